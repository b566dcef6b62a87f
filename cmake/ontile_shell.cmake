# pando shell: an executable beside `pando`, which becomes it. Its Python, which runs on tile 0, is text in it.
set(shell_dir ${CMAKE_SOURCE_DIR}/src/ontile/shell)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${shell_dir}/on_tile.py)
file(READ ${shell_dir}/on_tile.py shell_text)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/ontile/on_tile.cpp @ONLY CONTENT [[#include "ontile/shell/on_tile.h"

const std::string_view pando::ontile::kOnTile = R"python(@shell_text@)python";
]])
add_executable(pando-shell ${shell_dir}/main.cpp ${shell_dir}/tile_shell.cpp ${CMAKE_SOURCE_DIR}/src/base/messages.cpp ${CMAKE_BINARY_DIR}/ontile/on_tile.cpp)
target_link_libraries(pando-shell PRIVATE ontile_repl pando_ontile pando_command)
set_target_properties(pando-shell PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_RPATH_USE_ORIGIN ON)
install(TARGETS pando-shell RUNTIME DESTINATION bin COMPONENT ontile)
