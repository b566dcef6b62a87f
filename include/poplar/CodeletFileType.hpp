#ifndef poplar_CodeletFileType_hpp
#define poplar_CodeletFileType_hpp

namespace poplar {

/// What a codelet file holds. Auto: what popc writes is an Object, whatever its name; others go by the ending of their name.
enum class CodeletFileType { Auto, PreprocessedAsmSource, AsmSource, CSource, CppSource, IrSource, Object };

}  // namespace poplar

#endif
