/* mutator_libfuzzer.c - libFuzzer changes records in addition to bytes. */
#include "mutator.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    enum { BYTES_ONE_OF = 4 };
    /* in place: the variant is complete before it is copied */
    size_t made = seed % BYTES_ONE_OF == 0 ? 0 : fuzz_variant(data, size, seed, data, room);
    return made ? made : LLVMFuzzerMutate(data, size, room);
}
