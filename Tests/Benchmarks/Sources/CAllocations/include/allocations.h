#pragma once
#include <stdint.h>

/// Bytes that this process has asked the allocator for so far, also those that were freed since.
uint64_t allocated_bytes(void);
