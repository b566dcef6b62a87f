#ifndef poplar_CodeletFileType_hpp
#define poplar_CodeletFileType_hpp

namespace poplar {

/// What a codelet file holds. Auto: by the ending of its name.
enum class CodeletFileType { Auto, PreprocessedAsmSource, AsmSource, CSource, CppSource, IrSource, Object };

}  // namespace poplar

#endif
