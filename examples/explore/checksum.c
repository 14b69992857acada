//@ command = """nearmiss explore checksum.c --function checksum --pre checksum_pre --oracle check_checksum \
//@   --size data=n --range n=0..1"""
//@ large_flags = ["-DBITS=6"]
//@ large = "--range n=0..2"
//@ require = ["forall i in 0..n: (((0x6996 >> (data[i] & 15)) ^ (0x6996 >> (data[i] >> 4 & 15))) & 1) == 0"]
#include <stdbool.h>
#include <stddef.h>

// How many bits of a byte are used.
#ifndef BITS
#define BITS 8
#endif
#define TOP (1u << (BITS - 1))
#define ALL ((TOP << 1) - 1)

// A cyclic redundancy check with the polynomial x^BITS + x^2 + x + 1.
unsigned checksum(const unsigned char *data, size_t n)
{
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum ^= data[i] & ALL;
        for (int bit = 0; bit < BITS; bit++) {
            if (sum & TOP)
                sum = (sum << 1 ^ 7) & ALL;
            else
                sum <<= 1;
        }
    }
    return sum;
}

// Bytes of even parity.
bool checksum_pre(const unsigned char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned byte = data[i];
        byte ^= byte >> 4;
        byte ^= byte >> 2;
        byte ^= byte >> 1;
        if (byte & 1)
            return false;
    }
    return true;
}

// What is behind the data together with their sum leaves no rest.
bool check_checksum(const unsigned char *data, size_t n, unsigned result)
{
    unsigned rest = 0;
    for (size_t bit = 0; bit < (n + 1) * BITS; bit++) {
        unsigned byte = bit / BITS < n ? data[bit / BITS] : result;
        rest = rest << 1 | (byte >> (BITS - 1 - bit % BITS) & 1);
        rest ^= rest >> BITS & 1 ? ALL + 1 + 7 : 0;
    }
    return rest == 0;
}
