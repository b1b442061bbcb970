#include "ir/parser.h"

#include "base/text.h"
#include "ir/graph_access.h"
#include "ir/names.h"
#include "ir/value_rules.h"

namespace atb {
namespace {

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (int i = 0; i < op_count(); ++i) names.emplace_back(op_info(static_cast<Op>(i)).name);
  return names;
}

std::string shown(const Token& token) {
  return token.kind == TokenKind::kEnd ? "the end of the text" : quoted(token.text);
}

}  // namespace

Graph Graph::parse(std::string_view text) { return Parser(text).parse(); }

void Parser::fail(const Token& at, const std::string& message, const std::string& hint) const {
  text_error(lexer_.text(), at.offset, message, hint);
}

Token Parser::take() {
  Token taken = std::move(token_);
  token_ = lexer_.next();
  return taken;
}

Token Parser::take(TokenKind kind, const char* expected) {
  if (token_.kind != kind) fail(token_, "found " + shown(token_) + ", expected " + expected);
  return take();
}

bool Parser::accept(char mark) {
  if (!at_mark(mark)) return false;
  take();
  return true;
}

void Parser::expect(char mark) {
  if (!accept(mark)) fail(token_, "found " + shown(token_) + ", expected '" + mark + "'");
}

Graph Parser::parse() {
  if (!at_name("graph")) fail(token_, "found " + shown(token_) + ", expected: graph \"name\" {");
  const Token start = take();
  graph_.emplace(take(TokenKind::kString, "the name of the graph in quotes").text);
  expect('{');
  while (!accept('}')) parse_statement();
  if (token_.kind != TokenKind::kEnd) fail(token_, "found " + shown(token_) + " after the end of the graph");
  located(start, [this] { graph_->verify(); });
  return std::move(*graph_);
}

void Parser::parse_statement() {
  if (token_.kind == TokenKind::kValue) return parse_definition();
  if (at_name("output")) return parse_output();
  fail(token_, "found " + shown(token_) + ", expected %name = ..., output or }");
}

void Parser::parse_output() {
  take();
  const Token name = take(TokenKind::kString, "the name of the output in quotes");
  const ValueId value = parse_use();
  located(name, [&] { graph_->output(name.text, value); });
}

void Parser::parse_definition() {
  const Token name = take();
  if (graph_->find_value(name.text)) fail(name, "%" + name.text + " is defined twice");
  expect('=');
  ValueId id;
  if (at_name("input") || at_name("param") || at_name("state")) {
    id = define_tensor(take());
  } else if (at_name("constant")) {
    id = define_constant();
  } else {
    id = define_result();
  }
  located(name, [&] { GraphAccess::rename(*graph_, id, name.text); });
}

ValueId Parser::define_tensor(const Token& kind) {
  const Token tensor = take(TokenKind::kString, "the name of the tensor in quotes");
  expect(':');
  Type type = parse_type();
  if (graph_->find_tensor(tensor.text)) fail(tensor, "the tensor " + quoted(tensor.text) + " is defined twice");
  return located(tensor, [&] {
    if (kind.text == "input") return graph_->input(tensor.text, type.dtype, std::move(type.shape));
    if (kind.text == "param") return graph_->param(tensor.text, type.dtype, std::move(type.shape));
    return graph_->state(tensor.text, type.dtype, std::move(type.shape));
  });
}

ValueId Parser::define_constant() {
  take();
  const double value = parse_number();
  expect(':');
  const Token at = token_;
  const Type type = parse_type();
  if (!type.shape.empty()) fail(at, "a constant is one number", "its shape is []");
  return located(at, [&] { return graph_->constant(value, type.dtype); });
}

ValueId Parser::define_result() {
  const Token op = token_;
  Call call = parse_call();
  const Token type_at = token_;
  std::optional<Type> type;
  if (accept(':')) type = parse_type();
  std::string path;
  if (accept('@')) path = take(TokenKind::kString, "a path in quotes").text;
  const ValueId id =
      located(op, [&] { return graph_->add(call.op, std::move(call.attrs), std::move(call.inputs), std::move(path)); });
  if (type) check_type(id, type_at, *type);
  return id;
}

void Parser::check_type(ValueId id, const Token& at, const Type& type) const {
  const Value& value = graph_->value(id);
  if (type.dtype == value.dtype && type.shape == value.shape) return;
  fail(at,
       std::string("the result is ") + dtype_name(value.dtype) + to_string(value.shape) + ", not " +
           dtype_name(type.dtype) + to_string(type.shape),
       "correct the type or leave it out");
}

Parser::Call Parser::parse_call() {
  const Token name = take(TokenKind::kName, "an operator");
  const OpInfo* info = find_op(name.text);
  if (!info)
    fail(name, "unknown operator " + quoted(name.text), "did you mean " + nearest_name(name.text, op_names()) + "?");
  Call call{info->op, default_attrs(info->op), parse_operands()};
  if (accept('{')) parse_attrs(call.op, call.attrs);
  return call;
}

std::vector<ValueId> Parser::parse_operands() {
  std::vector<ValueId> operands;
  expect('(');
  if (accept(')')) return operands;
  do operands.push_back(parse_use());
  while (accept(','));
  expect(')');
  return operands;
}

ValueId Parser::parse_use() {
  const Token name = take(TokenKind::kValue, "a value as %name");
  const auto id = graph_->find_value(name.text);
  if (!id) fail(name, "%" + name.text + " is not defined", "values are defined above their first use");
  return *id;
}

}  // namespace atb
