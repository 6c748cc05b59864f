/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The features of the processor, as __builtin_cpu_supports() and target_clones
 * read them: in the runtime libraries of gcc and clang, not in zig's
 * (github.com/ziglang/zig/issues/18074). Names and bits are those on which both
 * compilers agree; only the features that smtune asks for are looked up.
 *
 * Resolvers of clones run before the program is relocated, so everything is
 * hidden and nothing here calls a library.
 */
#include <cpuid.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Bits of the model. */
enum {
    FEATURE_AVX2 = 10,
    FEATURE_FMA = 14,
    FEATURE_AVX512F = 15,
    FEATURE_AVX512VL = 20,
    FEATURE_AVX512BW = 21,
    FEATURE_AVX512DQ = 22
};

enum { VENDOR_OTHER = 3 };

/* Registers that the kernel saves: the low half of XCR0. */
enum { YMM = 0x6, ZMM = 0xe6 };

struct model {
    unsigned vendor, type, subtype, features[1];
};

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
extern struct model __cpu_model HIDDEN;
extern unsigned __cpu_features2[3] HIDDEN;
int __cpu_indicator_init(void) HIDDEN __attribute__((constructor(101)));

struct model __cpu_model;
unsigned __cpu_features2[3];

static unsigned saved_registers(void)
{
    unsigned low, high;

    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static unsigned bit_if(unsigned word, int bit, int feature)
{
    return (word >> bit & 1) << feature;
}

int __cpu_indicator_init(void)
{
    unsigned a, b, c, d, features = 0, saved = 0;

    if (__cpu_model.vendor != 0)
        return 0;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0) {
        saved = saved_registers();
        if ((saved & YMM) == YMM)
            features |= bit_if(c, 12, FEATURE_FMA);
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
        if ((saved & YMM) == YMM)
            features |= bit_if(b, 5, FEATURE_AVX2);
        if ((saved & ZMM) == ZMM)
            features |= bit_if(b, 16, FEATURE_AVX512F) |
                        bit_if(b, 17, FEATURE_AVX512DQ) |
                        bit_if(b, 30, FEATURE_AVX512BW) |
                        bit_if(b, 31, FEATURE_AVX512VL);
    }
    __cpu_model.features[0] = features;
    __cpu_model.vendor = VENDOR_OTHER;
    return 0;
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
