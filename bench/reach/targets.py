"""The targets that are looked for: where, from which function, and what is known of each by reading.

`files` are of the package's source directory; drivers of this directory are copied there.
"""

HEADER8 = "--size aucHeader=768"
HEADER2 = "--size aucHeader=384"
TEXT = "--size text=n --range n=0..12"
STRING = "--size string=length --range length=0..4"
BUFFER = "--size buffer=bufsize --range bufsize=0..4"

ANTIWORD8 = ("antiword_driver.c stylesheet.c xmalloc.c misc.c", "drive_stylesheet", HEADER8, "-DNDEBUG")
ANTIWORD2 = ("antiword_driver.c summary.c xmalloc.c misc.c", "drive_summary", HEADER2, "-DNDEBUG")
UTF = "-DHAVE_STDINT_H=1"
UTF_STRING = ("src/utf.c", "utf8_check_string", STRING, UTF)
UTF_NEXT = ("src/utf.c", "utf8_iterate", BUFFER, UTF)
UTF_ENCODE = ("src/utf.c", "utf8_encode", "--size buffer=4", UTF)
CJSON = ("cjson_driver.c", "drive_utf16", TEXT, "-lm")
CJSON_SKIP = ("cjson_driver.c", "drive_skip", TEXT, "-lm")
CJSON_HEX = ("cJSON.c", "parse_hex4", "--size input=4", "-lm")

# Package, where it begins, the target, what must hold there, and whether it can be reached.
TARGETS = [
    ("antiword", ANTIWORD8, "stylesheet.c:636", "(int)tStshInfoLen < 0", True),
    ("antiword", ANTIWORD8, "stylesheet.c:636", "tBlockSize != 64 && tBlockSize != 512", False),
    ("antiword", ANTIWORD8, "stylesheet.c:636", "tStshInfoLen == 12345678", True),
    ("antiword", ANTIWORD2, "summary.c:544", "(int)tSumdInfoLen < 0", False),
    ("antiword", ANTIWORD2, "summary.c:544", "tSumdInfoLen > 60000", True),
    ("antiword", ANTIWORD2, "summary.c:544", "iWordVersion == 1", False),
    ("jansson", UTF_STRING, "src/utf.c:107", "", True),
    ("jansson", UTF_STRING, "src/utf.c:96", "", True),
    ("jansson", UTF_STRING, "src/utf.c:81", "", False),
    ("jansson", UTF_STRING, "src/utf.c:154", "count == 4", True),
    ("jansson", UTF_STRING, "src/utf.c:113", "value >= 0xD800 && value <= 0xDFFF", False),
    ("jansson", UTF_NEXT, "src/utf.c:65", "", True),
    ("jansson", UTF_NEXT, "src/utf.c:137", "value > 0x10FFFF", False),
    ("jansson", UTF_NEXT, "src/utf.c:137", "value == 0x1F600", True),
    ("jansson", UTF_ENCODE, "src/utf.c:33", "", True),
    ("jansson", UTF_ENCODE, "src/utf.c:31", "codepoint < 0x10000", False),
    ("cjson", CJSON_HEX, "cJSON.c:675", "h == 0xBEEF", True),
    ("cjson", CJSON_HEX, "cJSON.c:675", "h > 0xFFFF", False),
    ("cjson", CJSON, "cJSON.c:735", "", True),
    ("cjson", CJSON, "cJSON.c:730", "", True),
    ("cjson", CJSON, "cJSON.c:746", "codepoint > 0x10FFFF", False),
    ("cjson", CJSON, "cJSON.c:746", "codepoint >= 0xD800 && codepoint <= 0xDFFF", False),
    ("cjson", CJSON_SKIP, "cJSON.c:1101", "buffer->offset > 3", False),
    ("cjson", CJSON_SKIP, "cJSON.c:1101", "", True),
]
