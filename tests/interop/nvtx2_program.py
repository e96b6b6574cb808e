# SPDX-License-Identifier: Apache-2.0
"""A program with the library of NVTX 2, which PyTorch had until CUDA 12.4. usage: nvtx2_program.py LIBRARY"""
import ctypes
import sys

nvtx = ctypes.CDLL(sys.argv[1])
nvtx.nvtxDomainCreateA.restype = nvtx.nvtxRangeStartA.restype = ctypes.c_void_p
nvtx.nvtxRangeEnd.argtypes = [ctypes.c_uint64]
nvtx.nvtxRangePushA(b"forward")
nvtx.nvtxRangePushW("w\u00efde")
nvtx.nvtxMarkA(b"mark")
nvtx.nvtxRangePop()
nvtx.nvtxRangePop()
nvtx.nvtxRangeEnd(nvtx.nvtxRangeStartA(b"request"))
