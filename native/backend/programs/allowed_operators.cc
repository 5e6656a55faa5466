#include "programs/allowed_operators.h"

#include <array>
#include <sstream>
#include <unordered_set>

namespace backend {
namespace {

/// ATen operators by purpose: those that models of torch.nn, torchvision, torchaudio, braindecode,
/// timm and transformers use (counted by test/parity/operators.py), and others of the same
/// families.
constexpr std::array kAten{
    // Layers.
    "linear bilinear matmul mm bmm addmm addmv addbmm baddbmm mv dot inner outer vdot addr einsum "
    "tensordot kron chain_matmul linalg_matmul linalg_multi_dot linalg_vecdot cross linalg_cross "
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution "
    "_convolution _convolution_mode conv_tbc "
    "batch_norm layer_norm group_norm instance_norm rms_norm native_layer_norm native_group_norm "
    "native_batch_norm _native_batch_norm_legit_no_training "
    "embedding embedding_bag one_hot dropout feature_dropout alpha_dropout feature_alpha_dropout "
    "native_dropout lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell "
    "_pack_padded_sequence _pad_packed_sequence pad_sequence "
    "scaled_dot_product_attention _native_multi_head_attention _transformer_encoder_layer_fwd "
    "_nested_tensor_from_mask _nested_tensor_from_mask_left_aligned to_padded_tensor "
    "_weight_norm _weight_norm_interface norm_except_dim cosine_similarity pairwise_distance cdist "
    "pdist pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle "
    "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d unfold im2col col2im",
    // Pooling and padding.
    "avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d max_pool1d_with_indices "
    "max_pool2d_with_indices max_pool3d_with_indices adaptive_avg_pool1d adaptive_avg_pool2d "
    "adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d "
    "_adaptive_avg_pool2d _adaptive_avg_pool3d fractional_max_pool2d fractional_max_pool3d "
    "max_unpool2d max_unpool3d pad constant_pad_nd reflection_pad1d reflection_pad2d "
    "reflection_pad3d replication_pad1d replication_pad2d replication_pad3d _pad_circular "
    "_pad_enum upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d "
    "upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d _upsample_nearest_exact1d "
    "_upsample_nearest_exact2d _upsample_nearest_exact3d _upsample_bilinear2d_aa "
    "_upsample_bicubic2d_aa _upsample_lanczos2d_aa",
    // Activations.
    "relu relu6 leaky_relu prelu _prelu_kernel rrelu elu selu celu gelu silu mish glu sigmoid tanh "
    "hardtanh hardsigmoid hardswish hardshrink softshrink softplus threshold log_sigmoid "
    "softmax log_softmax _softmax _log_softmax logit",
    // Elementwise.
    "abs absolute neg negative positive sign sgn signbit ceil floor round trunc fix frac square "
    "sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p pow float_power sin cos tan asin "
    "acos atan sinh cosh asinh acosh atanh arcsin arccos arctan arcsinh arccosh arctanh atan2 "
    "arctan2 sinc erf erfc erfinv lgamma digamma polygamma mvlgamma i0 deg2rad rad2deg degrees "
    "radians special_erf special_erfc special_erfinv special_expit special_exp2 special_expm1 "
    "special_log1p special_logit special_logsumexp special_log_softmax special_softmax "
    "special_sinc "
    "special_xlogy special_i0 special_i0e special_i1 special_ndtr special_round special_digamma "
    "special_gammaln special_entr add sub subtract rsub mul multiply div divide true_divide "
    "floor_divide remainder fmod addcmul addcdiv lerp hypot xlogy copysign ldexp frexp modf gcd "
    "heaviside nextafter logaddexp logaddexp2 maximum minimum fmax fmin clamp clip clamp_min "
    "clamp_max nan_to_num where masked_fill isnan isinf isfinite isposinf isneginf isreal isclose "
    "allclose isin eq ne lt le gt ge not_equal less less_equal greater greater_equal equal "
    "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not "
    "bitwise_left_shift bitwise_right_shift __and__ __or__ __xor__ __lshift__ __rshift__ __iand__ "
    "__ior__ __ixor__ __ilshift__ __irshift__",
    // Reductions.
    "sum mean nansum nanmean prod std var std_mean var_mean amax amin aminmax max min median "
    "nanmedian mode quantile nanquantile kthvalue argmax argmin all any count_nonzero norm "
    "native_norm frobenius_norm nuclear_norm linalg_norm linalg_vector_norm linalg_matrix_norm "
    "renorm dist logsumexp logcumsumexp cumsum cumprod cummax cummin diff trapz trapezoid "
    "cumulative_trapezoid gradient cov corrcoef histc bincount bucketize searchsorted sort argsort "
    "msort topk unique_consecutive unique_dim _unique _unique2 trace",
    // Shapes.
    "view view_as reshape reshape_as flatten unflatten ravel squeeze unsqueeze expand expand_as "
    "broadcast_to broadcast_tensors broadcast_shapes repeat repeat_interleave tile transpose t "
    "permute movedim moveaxis swapaxes swapdims numpy_T mT mH adjoint matrix_H flip fliplr flipud "
    "roll rot90 cat concat concatenate stack hstack vstack dstack column_stack row_stack "
    "block_diag chunk split split_with_sizes tensor_split hsplit vsplit dsplit unsafe_chunk "
    "unsafe_split unsafe_split_with_sizes unbind select slice narrow diagonal diag diag_embed "
    "diagflat tril triu tril_indices triu_indices meshgrid cartesian_prod combinations atleast_1d "
    "atleast_2d atleast_3d contiguous clone _unsafe_view view_as_real view_as_complex",
    // Indexing.
    "index index_select index_add index_copy index_fill index_put index_reduce gather scatter "
    "scatter_add scatter_reduce take take_along_dim put masked_select masked_scatter nonzero "
    "nonzero_numpy argwhere select_scatter slice_scatter diagonal_scatter",
    // Signals and linear algebra.
    "stft istft fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft fft_fft2 fft_ifft2 "
    "fft_rfft2 fft_irfft2 fft_fftn fft_ifftn fft_rfftn fft_irfftn fft_fftfreq fft_rfftfreq "
    "fft_fftshift fft_ifftshift hann_window hamming_window blackman_window bartlett_window "
    "kaiser_window real imag conj conj_physical _conj _conj_physical resolve_conj resolve_neg "
    "angle complex polar inverse pinverse det logdet slogdet matrix_power matrix_exp "
    "cholesky_inverse cholesky_solve triangular_solve lu_solve linalg_inv linalg_inv_ex linalg_det "
    "linalg_slogdet linalg_matrix_power linalg_matrix_exp linalg_cholesky linalg_cholesky_ex "
    "linalg_qr linalg_svd linalg_svdvals linalg_eigh linalg_eigvalsh linalg_eig linalg_eigvals "
    "linalg_solve linalg_solve_ex linalg_solve_triangular linalg_lstsq linalg_pinv "
    "linalg_matrix_rank linalg_diagonal linalg_lu_factor linalg_lu_solve svd vander linalg_vander",
    // Losses, in branches that inference does not execute.
    "cross_entropy_loss nll_loss nll_loss_nd nll_loss2d mse_loss l1_loss smooth_l1_loss huber_loss "
    "kl_div binary_cross_entropy binary_cross_entropy_with_logits margin_ranking_loss "
    "soft_margin_loss hinge_embedding_loss multi_margin_loss poisson_nll_loss",
    // Tensor creation. Uninitialized tensors are zeroed (torchscript/code_guard.h).
    "empty empty_like new_empty zeros ones full zeros_like ones_like full_like new_zeros new_ones "
    "new_full arange linspace "
    "logspace eye scalar_tensor tensor as_tensor rand randn randint rand_like randn_like "
    "randint_like randperm normal uniform bernoulli random exponential multinomial poisson fill "
    "zero copy",
    // Tensor properties and conversions.
    "size len dim numel stride storage_offset element_size is_floating_point is_complex is_signed "
    "is_contiguous is_nonzero is_same_size is_conj is_neg is_inference item to type_as cpu "
    "detach alias lift lift_fresh lift_fresh_copy _shape_as_tensor _to_copy result_type can_cast "
    "promote_types sym_size sym_numel sym_stride get_device is_leaf requires_grad_ "
    "is_grad_enabled is_autocast_enabled is_autocast_cpu_enabled",
    // Numbers, lists, dictionaries and strings of TorchScript.
    "Bool Int Float Complex FloatImplicit IntImplicit ScalarImplicit ComplexImplicit Size __is__ "
    "__isnot__ __not__ __getitem__ __contains__ __derive_index __range_length "
    "__round_to_zero_floordiv _set_item _unwrap_optional append extend insert pop remove clear "
    "count reverse sorted list dict keys values items get setdefault update floordiv divmod "
    "mathremainder factorial isspace isdigit isalpha isalnum islower isupper startswith endswith "
    "find rfind strip lstrip rstrip lower upper replace join format percentFormat str ord "
    "chr hex oct bin range Delete is_scripting has_torch_function _get_tracing_state _is_tracing "
    "warn wait device fabs"};

/// Graph nodes that are not ATen operators.
constexpr std::array kPrim{
    "Constant ListConstruct ListUnpack TupleConstruct TupleUnpack TupleIndex TupleSlice "
    "DictConstruct DictIndex StringIndex If Loop GetAttr SetAttr CreateObject CallFunction "
    "CallMethod NumToTensor Uninitialized RaiseException Print unchecked_cast "
    "unchecked_unwrap_optional isinstance dtype device layout data shape is_cuda is_cpu is_mps "
    "is_xpu is_xla is_quantized is_sparse is_nested is_mkldnn is_meta is_vulkan requires_grad "
    "itemsize nbytes name abs min max tolist rangelist EnumName EnumValue ModuleContainerIndex "
    "Enter Exit Return Param fork Closure type ConstantChunk"};

using Names = std::unordered_set<std::string>;

/// `lists`: names separated by spaces.
template <typename Lists>
void add(Names& names, const std::string& prefix, const Lists& lists) {
  for (const char* list : lists) {
    std::istringstream words(list);
    for (std::string word; words >> word;) names.insert(prefix + word);
  }
}

const Names& allowed() {
  static const Names names = [] {
    Names all;
    add(all, "aten::", kAten);
    add(all, "prim::", kPrim);
    return all;
  }();
  return names;
}

}  // namespace

bool is_allowed(std::string_view name, const std::set<std::string>& added_operators) {
  const std::string as_int(name);
  if (allowed().contains(as_int) || added_operators.contains(as_int)) return true;
  const bool in_place = name.ends_with('_') && !name.ends_with("__");
  return in_place && allowed().contains(as_int.substr(0, as_int.size() - 1));
}

}  // namespace backend
