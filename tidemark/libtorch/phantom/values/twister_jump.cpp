// The words of a Mersenne twister are a linear recurrence, so far ones are sums of near ones.
//
// Over GF(2), with phi the recurrence's own polynomial (degree 19937, 135 terms):
//
//   x^n mod phi = x^i + x^j + ...        then        word[n + k] = word[i + k] ^ word[j + k] ^ ...
//
// for every k but 0, of whose word only the first bit takes part in what follows.
#include "tidemark/libtorch/phantom/values/twister_jump.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <vector>

namespace tidemark::phantom {
namespace {

constexpr std::size_t kWords = at::MERSENNE_STATE_N, kNear = at::MERSENNE_STATE_M;
constexpr std::size_t kDegree = 19'937;
constexpr std::size_t kLimbs = kDegree / 64 + 1;
// Up to so many refills of the state it is quicker to make them than to jump over them.
constexpr std::uint64_t kFewRefills = 4'000;
// Polynomials that a thread keeps: a model has few shapes of weights.
constexpr std::size_t kMostKept = 64;

using Words = std::array<std::uint32_t, kWords>;
using Polynomial = std::array<std::uint64_t, kLimbs>;  // of a degree below kDegree
using Product = std::array<std::uint64_t, 2 * kLimbs + 1>;

std::uint32_t twisted(std::uint32_t one, std::uint32_t next) {
  const std::uint32_t mixed = (one & at::UMASK) | (next & at::LMASK);
  return (mixed >> 1) ^ (-(next & 1U) & at::MATRIX_A);
}

// Out of place, so that the compiler may take several words at a time.
void refill(const Words& old, Words& words) {
  constexpr std::size_t kBehind = kWords - kNear;
  for (std::size_t k = 0; k < kBehind; ++k) words[k] = old[k + kNear] ^ twisted(old[k], old[k + 1]);
  for (std::size_t k = kBehind; k < kWords - 1; ++k)
    words[k] = words[k - kBehind] ^ twisted(old[k], old[k + 1]);
  words[kWords - 1] = words[kNear - 1] ^ twisted(old[kWords - 1], words[0]);
}

void refill(Words& words, std::uint64_t times) {
  Words other;
  for (; times >= 2; times -= 2) {
    refill(words, other);
    refill(other, words);
  }
  if (times == 1) {
    refill(words, other);
    words = other;
  }
}

void flip(Product& product, std::size_t bit) { product[bit / 64] ^= std::uint64_t{1} << bit % 64; }

// Adds 64 coefficients, the first of them at `bit`.
void add_at(Product& product, std::size_t bit, std::uint64_t coefficients) {
  product[bit / 64] ^= coefficients << bit % 64;
  if (bit % 64 != 0) product[bit / 64 + 1] ^= coefficients >> (64 - bit % 64);
}

// a(x) times (x^high + x^low).
Product times_pair(const Product& a, std::size_t high, std::size_t low) {
  Product product{};
  for (std::size_t i = 0; i < kLimbs; ++i) {
    if (a[i] == 0) continue;
    add_at(product, 64 * i + high, a[i]);
    add_at(product, 64 * i + low, a[i]);
  }
  return product;
}

// The exponents of phi below its degree. Its formula is in Matsumoto and Nishimura's paper of 1998,
// in the appendix; the tests hold what comes of it against a generator that really draws.
std::vector<std::size_t> find_exponents() {
  Product sum{};
  flip(sum, 0);
  for (int i = 0; i < 31; ++i) {
    sum = times_pair(sum, kWords - 1, kNear - 1);
    if ((at::MATRIX_A >> i & 1) != 0) flip(sum, 0);
  }
  sum = times_pair(sum, kWords, kNear);
  if (at::MATRIX_A >> 31 != 0) flip(sum, 0);
  std::vector<std::size_t> exponents;
  for (std::size_t bit = 0; bit < kDegree; ++bit)
    if ((sum[bit / 64] >> bit % 64 & 1) != 0) exponents.push_back(bit);
  return exponents;
}

// The second highest exponent lies 227 below the degree: 64 coefficients can go at once.
Polynomial reduced(Product& product) {
  static const std::vector<std::size_t> exponents = find_exponents();
  constexpr std::uint64_t kBelow = (std::uint64_t{1} << kDegree % 64) - 1;
  for (std::size_t limb = 2 * kLimbs - 1; limb + 1 >= kLimbs; --limb) {
    const bool is_border = limb == kDegree / 64;
    const std::uint64_t above = is_border ? product[limb] & ~kBelow : product[limb];
    product[limb] ^= above;
    for (const std::size_t exponent : exponents) {
      if (is_border) add_at(product, exponent, above >> kDegree % 64);
      else add_at(product, 64 * limb - kDegree + exponent, above);
    }
    if (is_border) break;
  }
  Polynomial rest;
  std::copy_n(product.begin(), kLimbs, rest.begin());
  return rest;
}

// Puts a zero between any two bits: what squaring does to a polynomial over GF(2).
std::uint64_t spread(std::uint32_t bits) {
  std::uint64_t wide = bits;
  wide = (wide | wide << 16) & 0x0000ffff0000ffff;
  wide = (wide | wide << 8) & 0x00ff00ff00ff00ff;
  wide = (wide | wide << 4) & 0x0f0f0f0f0f0f0f0f;
  wide = (wide | wide << 2) & 0x3333333333333333;
  return (wide | wide << 1) & 0x5555555555555555;
}

Polynomial squared(const Polynomial& a, bool times_x) {
  Product product{};
  for (std::size_t i = 0; i < kLimbs; ++i) {
    product[2 * i] = spread(static_cast<std::uint32_t>(a[i]));
    product[2 * i + 1] = spread(static_cast<std::uint32_t>(a[i] >> 32));
  }
  if (times_x) {
    for (std::size_t i = product.size() - 1; i > 0; --i)
      product[i] = product[i] << 1 | product[i - 1] >> 63;
    product[0] <<= 1;
  }
  return reduced(product);
}

Polynomial power_of_x(std::uint64_t exponent) {
  Polynomial power{};
  power[0] = 1;
  for (int bit = static_cast<int>(std::bit_width(exponent)) - 1; bit >= 0; --bit)
    power = squared(power, (exponent >> bit & 1) != 0);
  return power;
}

const Polynomial& kept_power_of_x(std::uint64_t exponent) {
  thread_local std::unordered_map<std::uint64_t, Polynomial> kept;
  if (kept.size() >= kMostKept && !kept.contains(exponent)) kept.clear();
  const auto [entry, is_new] = kept.try_emplace(exponent);
  if (is_new) entry->second = power_of_x(exponent);
  return entry->second;
}

// Words that follow one another: the state is the last kWords of them.
void make_next(std::uint32_t* state) { state[kWords] = state[kNear] ^ twisted(state[0], state[1]); }

void add_words(std::uint32_t* to, const std::uint32_t* words) {
  for (std::size_t k = 0; k < kWords; ++k) to[k] ^= words[k];
}

// For each byte the sum of the states that its bits stand for: bit b is the state b steps on.
std::vector<Words> sums_of_bytes(const Words& words) {
  std::array<std::uint32_t, kWords + 8> near;
  std::copy(words.begin(), words.end(), near.begin());
  for (std::size_t b = 0; b < 8; ++b) make_next(near.data() + b);
  std::vector<Words> sums(256);
  for (std::size_t byte = 1; byte < sums.size(); ++byte) {
    sums[byte] = sums[byte & (byte - 1)];
    add_words(sums[byte].data(), near.data() + std::countr_zero(byte));
  }
  return sums;
}

// The polynomial of the state, by Horner's rule: eight steps, then the next eight coefficients.
Words state_after(const Polynomial& polynomial, const Words& words) {
  const std::vector<Words> sums = sums_of_bytes(words);
  std::vector<std::uint32_t> all(kWords + 64 * kLimbs);
  std::uint32_t* state = all.data();
  for (std::size_t byte = 8 * kLimbs; byte-- > 0;) {
    for (int i = 0; i < 8; ++i) make_next(state++);
    add_words(state, sums[polynomial[byte / 8] >> 8 * (byte % 8) & 0xff].data());
  }
  Words result;
  std::copy_n(state, kWords, result.begin());
  return result;
}

// The words that come after so many refills.
void jump(Words& words, std::uint64_t refills) {
  const Words early = state_after(kept_power_of_x(refills * kWords - 1), words);
  // These begin one word early, because of the first word, which is not whole.
  std::copy(early.begin() + 1, early.end(), words.begin());
  words[kWords - 1] = early[kNear] ^ twisted(early[0], early[1]);
}

}  // namespace

void skip_draws(at::mt19937& engine, std::uint64_t draws) {
  if (draws == 0) return;
  at::mt19937_data_pod data = engine.data();
  // Counted from the last refill on: a new generator has used up words that it never had.
  const std::uint64_t drawn = kWords + 1 - static_cast<std::uint64_t>(data.left_) + draws;
  const std::uint64_t refills = (drawn - 1) / kWords;
  if (refills > kFewRefills) jump(data.state_, refills);
  else refill(data.state_, refills);
  const std::uint64_t used = drawn - refills * kWords;
  data.left_ = static_cast<int>(kWords + 1 - used);
  data.next_ = static_cast<std::uint32_t>(used);
  engine.set_data(data);
}

}  // namespace tidemark::phantom
