"""The weights of an ONNX model in 8 bits, activations as they come: onnxruntime's dynamic quantization.

Usage: python quantize.py DIR     writes DIR/onnx/model_quantized.onnx beside DIR/onnx/model.onnx
"""

import sys
from pathlib import Path

from onnxruntime.quantization import QuantType, quantize_dynamic

if __name__ == "__main__":
    folder = Path(sys.argv[1]) / "onnx"
    quantize_dynamic(folder / "model.onnx", folder / "model_quantized.onnx", weight_type=QuantType.QInt8)
