// The grammar of a graph's text, by recursive descent:
//
//   graph      = "graph" STRING "{" { definition | output } "}"
//   definition = VALUE "=" ( ("input" | "param" | "state") STRING | "constant" number | call ) [ ":" type ] [ "@"
//   STRING ] call       = OP "(" [ VALUE { "," VALUE } ] ")" [ "{" NAME "=" attribute { "," NAME "=" attribute } "}" ]
//   output     = "output" STRING VALUE
//   type       = DTYPE "[" [ dim { "," dim } ] "]"
//   dim        = ["-"] term { ("+" | "-") term };   term = INTEGER [ "*" SYMBOL ] | SYMBOL
//
// The type of a call may be left out; where it stands, it must be the inferred one.
#pragma once

#include <atb/error.h>
#include <atb/graph.h>

#include <optional>

#include "ir/lexer.h"

namespace atb {

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text), token_(lexer_.next()) {}
  Graph parse();

 private:
  struct Type {
    DType dtype;
    Shape shape;
  };
  struct Call {
    Op op;
    Attrs attrs;
    std::vector<ValueId> inputs;
  };

  [[noreturn]] void fail(const Token& at, const std::string& message, const std::string& hint = "") const;
  /// Runs `body`; errors of graph building get the place in the text.
  template <class Body>
  auto located(const Token& at, Body body) const {
    try {
      return body();
    } catch (const Error& e) {
      fail(at, e.where().empty() ? e.message() : e.message() + " (" + e.where() + ")", e.hint());
    }
  }

  bool at_mark(char mark) const { return token_.kind == TokenKind::kMark && token_.text[0] == mark; }
  bool at_name(std::string_view name) const { return token_.kind == TokenKind::kName && token_.text == name; }
  Token take();
  Token take(TokenKind kind, const char* expected);
  bool accept(char mark);
  void expect(char mark);

  void parse_statement();
  void parse_definition();
  void parse_output();
  ValueId define_tensor(const Token& kind);
  ValueId define_constant();
  ValueId define_result();
  void check_type(ValueId id, const Token& at, const Type& type) const;
  Call parse_call();
  std::vector<ValueId> parse_operands();
  void parse_attrs(Op op, Attrs& attrs);
  ValueId parse_use();
  Type parse_type();
  DType parse_dtype_name();
  Dim parse_dim();
  Dim parse_term(int64_t sign);
  int64_t parse_integer();
  double parse_number();
  template <class Real>
  Real parse_real();
  uint8_t parse_named(std::span<const char* const> names);
  std::vector<int64_t> parse_integers();

  Lexer lexer_;
  Token token_;
  std::optional<Graph> graph_;
};

}  // namespace atb
