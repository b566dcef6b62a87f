#include "popc/promotions.h"

#include <clang/AST/Type.h>
#include <clang/Basic/DiagnosticSema.h>

#include <memory>

namespace pando::popc {

namespace {

using namespace clang;

bool is_promotion(unsigned id) { return id == diag::warn_impcast_double_promotion; }

// The compiler decides whether a message is an error before it hands it on. So promotions are warnings to it, and errors from here on.
class PromotionFilter : public DiagnosticConsumer {
 public:
  PromotionFilter(std::unique_ptr<DiagnosticConsumer> client, bool are_errors) : client_(std::move(client)), are_errors_(are_errors) {}

  void BeginSourceFile(const LangOptions& language, const Preprocessor* preprocessor) override {
    client_->BeginSourceFile(language, preprocessor);
  }
  void EndSourceFile() override { client_->EndSourceFile(); }
  void finish() override { client_->finish(); }

  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& message) override {
    if (level != DiagnosticsEngine::Note) left_out_ = is_promotion(message.getID()) && promotes_half(message);
    if (left_out_) return;
    if (is_promotion(message.getID()) && are_errors_) level = DiagnosticsEngine::Error;
    DiagnosticConsumer::HandleDiagnostic(level, message);  // counts
    client_->HandleDiagnostic(level, message);
  }

 private:
  static bool promotes_half(const Diagnostic& message) {
    if (message.getNumArgs() < 2) return false;
    for (unsigned i = 0; i < 2; ++i)
      if (message.getArgKind(i) != DiagnosticsEngine::ak_qualtype) return false;
    const auto type = [&](unsigned i) {
      return QualType::getFromOpaquePtr(reinterpret_cast<void*>(message.getRawArg(i))).getCanonicalType();
    };
    return type(0)->isFloat16Type() && type(1)->isSpecificBuiltinType(BuiltinType::Float);
  }

  std::unique_ptr<DiagnosticConsumer> client_;
  bool are_errors_;
  bool left_out_ = false;  // and so are the notes that follow
};

}  // namespace

void allow_promotions_of_half(CompilerInstance& ci) {
  DiagnosticsEngine& diagnostics = ci.getDiagnostics();
  const DiagnosticsEngine::Level level = diagnostics.getDiagnosticLevel(diag::warn_impcast_double_promotion, SourceLocation());
  if (level == DiagnosticsEngine::Ignored) return;
  const bool are_errors = level >= DiagnosticsEngine::Error;
  if (are_errors) diagnostics.setDiagnosticGroupWarningAsError("double-promotion", false);
  diagnostics.setClient(new PromotionFilter(diagnostics.takeClient(), are_errors));
}

}  // namespace pando::popc
