// Elementwise functions with AVX-512, FMA and F16C.
#include "cpu/compiled_for.h"
#include "cpu/simd_avx512.h"
#include "elementwise/functions.h"
#include "elementwise/power_avx512.h"

namespace kernels {
namespace {

/// Piecewise polynomials for the error function of a / √2 with a from 0 to 5.625; it rounds to 1
/// above. The range has sixteen intervals of equal width, in which t runs from 0 to 1. The rows are
/// the coefficients of 1, t, t², …, from interpolation at the Chebyshev points.
constexpr int kPieces = 16;
constexpr float kEnd = 5.625F;
alignas(64) constexpr float kErrorFunction[][kPieces] = {
    {1.96965374e-07F, 0.274833709F, 0.51802212F, 0.708431602F, 0.840349972F, 0.921220541F,
     0.965087771F, 0.986142576F, 0.995084226F, 0.9984442F, 0.99956131F, 0.99988991F, 0.999975443F,
     0.999995112F, 0.999999166F, 0.999999881F},
    {0.280496448F, 0.263691455F, 0.219074652F, 0.160846516F, 0.104363814F, 0.0598413721F,
     0.0303222034F, 0.0135775581F, 0.00537252473F, 0.00187856052F, 0.00058043882F, 0.000158477254F,
     3.82341677e-05F, 8.1509088e-06F, 1.53541544e-06F, 2.5556858e-07F},
    {7.91580605e-05F, -0.0162561964F, -0.0270910356F, -0.0298666675F, -0.0258437991F,
     -0.0185154658F, -0.0112470267F, -0.00586627005F, -0.00264719757F, -0.00103854516F,
     -0.000355405471F, -0.0001063444F, -2.78715306e-05F, -6.40685221e-06F, -1.29306568e-06F,
     -2.29324499e-07F},
    {-0.00600170484F, -0.00487754168F, -0.00224657939F, 0.000504020718F, 0.00223530689F,
     0.00265164999F, 0.00216795341F, 0.00139366218F, 0.000738257426F, 0.000329617906F,
     0.000125639534F, 4.12142617e-05F, 1.16985266e-05F, 2.88438059e-06F, 6.19513685e-07F,
     1.16164159e-07F},
    {0.000259335444F, 0.000630659633F, 0.000672647206F, 0.000434738322F, 0.00011539078F,
     -0.000110246147F, -0.000188342325F, -0.000163343124F, -0.000103662518F, -5.25515752e-05F,
     -2.20669699e-05F, -7.82222742e-06F, -2.36745086e-06F, -6.16338696e-07F, -1.38736084e-07F,
     -2.71034892e-08F},
};

/// GELU with an error of 1.3e-7 relative to max(1, x). A table lookup in registers replaces a
/// division. NaN stays NaN.
Simd::Vector gelu(Simd::Vector x) {
  constexpr float kLast = 15.999999F;
  using Vector = Simd::Vector;
  const Vector half = x * 0.5F, size = _mm512_abs_ps(half);
  const Vector at = _mm512_min_ps(size * (2 * kPieces / kEnd), Vector{} + kLast);
  const __m512i piece = _mm512_cvttps_epi32(at);
  const Vector t = at - _mm512_cvtepi32_ps(piece);
  const auto coefficient = [piece](int i) {
    return _mm512_permutexvar_ps(piece, _mm512_load_ps(kErrorFunction[i]));
  };
  Vector value = coefficient(4) * t + coefficient(3);
  value = value * t + coefficient(2);
  value = value * t + coefficient(1);
  value = value * t + coefficient(0);
  return half + size * value;
}

}  // namespace

constinit const Elementwise kElementwiseAvx512 =
    make_elementwise<Simd, gelu, power_of_2_scaled>("avx512", kCompiledFor);

}  // namespace kernels
