#include <atb/error.h>

#include "kernels/reference_ops.h"

namespace atb {
namespace {

template <class A, RefTensor (*F)(const A&, const RefInputs&)>
RefTensor call(const Attrs& attrs, const RefInputs& inputs) {
  return F(std::get<A>(attrs), inputs);
}

constexpr ReferenceFn kReference[] = {
#define ATB_OP(id, name, attrs, min_inputs, max_inputs, kind) call<attrs, reference::reference##id>,
#include <atb/ops.inc>
#undef ATB_OP
};

using Bindings = std::map<std::string, RefTensor>;

bool is_bound(const Value& value) {
  return value.kind == ValueKind::kInput || value.kind == ValueKind::kParam || value.kind == ValueKind::kState;
}

const RefTensor& binding_of(const Value& value, const Bindings& bindings) {
  const auto found = bindings.find(value.tensor);
  if (found == bindings.end()) throw Error(ErrorCode::kModel, "no tensor is bound to this name", value.tensor);
  const RefTensor& tensor = found->second;
  if (tensor.shape.size() != value.shape.size() || tensor.elements() != static_cast<int64_t>(tensor.data.size())) {
    throw Error(ErrorCode::kModel,
                "a tensor of " + std::to_string(tensor.shape.size()) + " dimensions and " +
                    std::to_string(tensor.data.size()) + " elements is bound, expected shape " + to_string(value.shape),
                value.tensor);
  }
  return tensor;
}

// If all symbols of `dim` but one are known, that one follows from its size.
bool solve(const Dim& dim, int64_t size, SymbolValues& symbols) {
  const std::pair<std::string, int64_t>* unknown = nullptr;
  Dim known = dim.constant();
  for (const auto& term : dim.terms()) {
    if (symbols.contains(term.first)) {
      known = known + Dim::symbol(term.first) * term.second;
    } else if (unknown) {
      return false;
    } else {
      unknown = &term;
    }
  }
  if (!unknown) return false;
  const Dim rest = Dim(size) + Dim(known.evaluate(symbols)) * -1;
  symbols[unknown->first] = rest.constant() / unknown->second;
  return true;
}

SymbolValues read_symbols(const Graph& graph, const Bindings& bindings) {
  SymbolValues symbols;
  for (bool found = true; found;) {
    found = false;
    for (const Value& value : graph.values()) {
      if (!is_bound(value)) continue;
      const RefTensor& tensor = binding_of(value, bindings);
      for (size_t i = 0; i < value.shape.size(); ++i) found |= solve(value.shape[i], tensor.shape[i], symbols);
    }
  }
  return symbols;
}

void check_shape(const Value& value, const RefTensor& tensor, const SymbolValues& symbols) {
  for (size_t i = 0; i < value.shape.size(); ++i) {
    const int64_t expected = value.shape[i].evaluate(symbols);
    if (tensor.shape[i] == expected) continue;
    throw Error(ErrorCode::kModel,
                "dimension " + std::to_string(i) + " of " + to_string(value.shape) + " is " +
                    std::to_string(tensor.shape[i]) + ", expected " + std::to_string(expected),
                value.tensor);
  }
}

class Run {
 public:
  Run(const Graph& graph, const Bindings& bindings, Rounding rounding)
      : graph_(graph), rounding_(rounding), owned_(graph.values().size()), values_(graph.values().size()) {
    const SymbolValues symbols = read_symbols(graph, bindings);
    for (size_t i = 0; i < values_.size(); ++i) {
      const Value& value = graph.values()[i];
      if (value.kind == ValueKind::kConstant) own(i, {{}, {value.constant}, value.dtype});
      if (!is_bound(value)) continue;
      const RefTensor& tensor = binding_of(value, bindings);
      check_shape(value, tensor, symbols);
      bind(i, tensor);
    }
  }

  ReferenceResult result() {
    ReferenceResult result;
    for (const Node& node : graph_.nodes()) {
      compute(node);
      if (node.op == Op::kKvAppend) result.states[graph_.value(node.inputs[0]).tensor] = at(node.output);
    }
    for (const auto& [name, id] : graph_.outputs()) result.outputs[name] = at(id);
    return result;
  }

 private:
  const RefTensor& at(ValueId id) const { return *values_[static_cast<size_t>(id)]; }

  void own(size_t i, RefTensor tensor) {
    owned_[i] = std::move(tensor);
    values_[i] = &owned_[i];
  }

  // Bound tensors are only copied if they do not say the dtype that the graph says; blocks decode to f32.
  void bind(size_t i, const RefTensor& tensor) {
    const DType wanted = graph_.values()[i].dtype;
    values_[i] = &tensor;
    if (tensor.dtype == wanted || dtype_info(wanted).quantized) return;
    own(i, tensor);
    owned_[i].dtype = wanted;
  }

  void compute(const Node& node) {
    RefInputs inputs;
    for (const ValueId id : node.inputs) inputs.push_back(&at(id));
    RefTensor result = reference_of(node.op)(node.attrs, inputs);
    result.dtype = graph_.value(node.output).dtype;
    if (rounding_ == Rounding::kEveryValue) round_to(result.dtype, result);
    own(static_cast<size_t>(node.output), std::move(result));
  }

  const Graph& graph_;
  Rounding rounding_;
  std::vector<RefTensor> owned_;
  std::vector<const RefTensor*> values_;
};

}  // namespace

ReferenceFn reference_of(Op op) { return kReference[static_cast<size_t>(op)]; }

ReferenceResult run_reference(const Graph& graph, const Bindings& bindings, Rounding rounding) {
  graph.verify();
  return Run(graph, bindings, rounding).result();
}

}  // namespace atb
