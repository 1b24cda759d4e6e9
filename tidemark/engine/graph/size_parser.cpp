// Reads sizes as text: a small parser by precedence, one function per level.
//
//   sum     = product { (+ | -) product }
//   product = signed { (* | / | // | %) signed }
//   signed  = (- | +) signed | power
//   power   = atom [ ** signed ]           so that -a**2 is -(a**2), and a**b**c is a**(b**c)
//   atom    = number | name | name ( arguments ) | ( sum )
#include <cctype>
#include <charconv>
#include <map>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/graph/size_expression.h"

namespace tidemark {
namespace {

constexpr int kDeepest = 200;  // no size is nested deeper, damaged text is

// Functions that fold their arguments with one operator.
const std::map<std::string_view, SizeWord> kFolds = {
    {"Add", SizeWord::Add},
    {"Mul", SizeWord::Multiply},
    {"Max", SizeWord::Maximum},
    {"Min", SizeWord::Minimum},
    {"FloorDiv", SizeWord::FloorDivide},
    {"CleanDiv", SizeWord::FloorDivide},
    {"IntTrueDiv", SizeWord::FloorDivide},
    {"CeilDiv", SizeWord::CeilDivide},
    {"Mod", SizeWord::Modulo},
    {"PythonMod", SizeWord::Modulo},
    {"Pow", SizeWord::Power},
    {"PowByNatural", SizeWord::Power},
};

class Parser {
 public:
  Parser(std::string_view text, Dimensions& dimensions) : text_(text), dimensions_(dimensions) {}

  SizeExpression parse() {
    sum();
    if (!rest().empty()) refuse();
    return std::move(size_);
  }

 private:
  std::string_view rest() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return text_.substr(at_);
  }
  bool take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) refuse();
  }
  void write(SizeWord word, std::int64_t value = 0) { size_.steps.push_back({word, value}); }

  [[noreturn]] void refuse() const {
    throw Error(ErrorCode::BadFormat,
                "this size cannot be read: " + std::string(text_.substr(0, 200)),
                "character " + std::to_string(at_));
  }

  void sum() {
    if (++depth_ > kDeepest) refuse();
    product();
    while (true) {
      if (take("+")) product(), write(SizeWord::Add);
      else if (take("-")) product(), write(SizeWord::Subtract);
      else break;
    }
    --depth_;
  }

  void product() {
    signed_power();
    while (true) {
      if (take("//") || take("/")) signed_power(), write(SizeWord::FloorDivide);
      else if (take("*")) signed_power(), write(SizeWord::Multiply);
      else if (take("%")) signed_power(), write(SizeWord::Modulo);
      else break;
    }
  }

  void signed_power() {
    if (++depth_ > kDeepest) refuse();
    if (take("-")) {
      write(SizeWord::Number, 0);
      signed_power();
      write(SizeWord::Subtract);
    } else if (take("+")) {
      signed_power();
    } else {
      power();
    }
    --depth_;
  }

  void power() {
    atom();
    if (take("**")) signed_power(), write(SizeWord::Power);
  }

  void atom() {
    const std::string_view left = rest();
    if (left.empty()) refuse();
    if (take("(")) return sum(), expect(")");
    if (std::isdigit(static_cast<unsigned char>(left[0]))) return write(SizeWord::Number, number());
    const std::string_view word = name();
    if (!take("(")) return dimension(word);
    call(word);
  }

  std::int64_t number() {
    std::int64_t value = 0;
    const char* const last = text_.data() + text_.size();
    const auto [end, problem] = std::from_chars(text_.data() + at_, last, value);
    if (problem != std::errc()) refuse();
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string_view name() {
    const std::string_view left = rest();
    std::size_t length = 0;
    while (length < left.size() &&
           (std::isalnum(static_cast<unsigned char>(left[length])) || left[length] == '_'))
      ++length;
    if (length == 0) refuse();
    at_ += length;
    return left.substr(0, length);
  }

  void dimension(std::string_view word) {
    write(SizeWord::Dimension, static_cast<std::int64_t>(dimensions_.number_of(word)));
  }

  void call(std::string_view word) {
    if (word == "Symbol" || word == "Dummy") return symbol();
    if (word == "Integer") return signed_power(), expect(")");
    const auto fold = kFolds.find(word);
    if (fold == kFolds.end()) refuse();
    sum();
    while (take(",")) sum(), write(fold->second);
    expect(")");
  }

  // Symbol('s0', positive=True, integer=True): the words after the name say nothing of its value.
  void symbol() {
    expect("'");
    const std::string_view word = name();
    expect("'");
    while (take(",")) name(), expect("="), name();
    expect(")");
    dimension(word);
  }

  std::string_view text_;
  Dimensions& dimensions_;
  SizeExpression size_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

SizeExpression parse_size(std::string_view text, Dimensions& dimensions) {
  return Parser(text, dimensions).parse();
}

}  // namespace tidemark
