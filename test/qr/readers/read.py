"""Reads grey pictures with OpenCV, quirc and ZBar.

Takes pictures from standard input: a line "WIDTH HEIGHT", then the bytes. Answers each with a line of JSON that holds
the text each reader found, or null. The first argument is the folder that install.sh filled.
"""

import ctypes
import json
import sys

import cv2
import numpy

folder = sys.argv[1]
cv2.setNumThreads(1)
opencv = cv2.QRCodeDetector()

quirc = ctypes.CDLL(folder + "/libquirc.so")
zbar = ctypes.CDLL("libzbar.so.0")
pointer, number, unsigned = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint
for library, name, result, arguments in [
    (quirc, "quirc_new", pointer, []),
    (quirc, "quirc_resize", number, [pointer, number, number]),
    (quirc, "quirc_begin", pointer, [pointer, pointer, pointer]),
    (quirc, "quirc_end", None, [pointer]),
    (quirc, "quirc_count", number, [pointer]),
    (quirc, "quirc_extract", None, [pointer, number, pointer]),
    (quirc, "quirc_decode", number, [pointer, pointer]),
    (zbar, "zbar_image_scanner_create", pointer, []),
    (zbar, "zbar_image_scanner_set_config", number, [pointer, number, number, number]),
    (zbar, "zbar_image_create", pointer, []),
    (zbar, "zbar_image_set_format", None, [pointer, ctypes.c_ulong]),
    (zbar, "zbar_image_set_size", None, [pointer, unsigned, unsigned]),
    (zbar, "zbar_image_set_data", None, [pointer, pointer, ctypes.c_ulong, pointer]),
    (zbar, "zbar_scan_image", number, [pointer, pointer]),
    (zbar, "zbar_image_first_symbol", pointer, [pointer]),
    (zbar, "zbar_symbol_get_data", ctypes.c_char_p, [pointer]),
    (zbar, "zbar_image_destroy", None, [pointer]),
]:
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments

BITMAP_MAX, PAYLOAD_MAX = (177 * 177 + 7) // 8, 8896


class Code(ctypes.Structure):
    _fields_ = [("corners", number * 8), ("size", number), ("bitmap", ctypes.c_uint8 * BITMAP_MAX)]


class Data(ctypes.Structure):
    _fields_ = [
        ("version", number),
        ("level", number),
        ("mask", number),
        ("type", number),
        ("payload", ctypes.c_uint8 * PAYLOAD_MAX),
        ("length", number),
        ("eci", ctypes.c_uint32),
    ]


recogniser = quirc.quirc_new()
scanner = zbar.zbar_image_scanner_create()
QR_CODE, ENABLE = 64, 0
zbar.zbar_image_scanner_set_config(scanner, 0, ENABLE, 0)
zbar.zbar_image_scanner_set_config(scanner, QR_CODE, ENABLE, 1)
GREY = int.from_bytes(b"Y800", "little")


def read_with_opencv(pixels, width, height):
    try:
        text, _, _ = opencv.detectAndDecode(numpy.frombuffer(pixels, numpy.uint8).reshape(height, width))
    except (cv2.error, UnicodeDecodeError):
        return None
    return text or None


def read_with_quirc(pixels, width, height):
    if quirc.quirc_resize(recogniser, width, height) < 0:
        raise MemoryError
    ctypes.memmove(quirc.quirc_begin(recogniser, None, None), pixels, width * height)
    quirc.quirc_end(recogniser)
    code, data = Code(), Data()
    for index in range(quirc.quirc_count(recogniser)):
        quirc.quirc_extract(recogniser, index, ctypes.byref(code))
        if quirc.quirc_decode(ctypes.byref(code), ctypes.byref(data)) == 0:
            return bytes(data.payload[: data.length]).decode("utf8", "replace")
    return None


def read_with_zbar(pixels, width, height):
    image = zbar.zbar_image_create()
    zbar.zbar_image_set_format(image, GREY)
    zbar.zbar_image_set_size(image, width, height)
    zbar.zbar_image_set_data(image, pixels, width * height, None)
    zbar.zbar_scan_image(scanner, image)
    symbol = zbar.zbar_image_first_symbol(image)
    text = zbar.zbar_symbol_get_data(symbol).decode("utf8", "replace") if symbol else None
    zbar.zbar_image_destroy(image)
    return text


while header := sys.stdin.buffer.readline():
    width, height = map(int, header.split())
    pixels = sys.stdin.buffer.read(width * height)
    found = {
        "opencv": read_with_opencv(pixels, width, height),
        "quirc": read_with_quirc(pixels, width, height),
        "zbar": read_with_zbar(pixels, width, height),
    }
    print(json.dumps(found), flush=True)
