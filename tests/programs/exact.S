/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program without a C library, known to the last instruction, for x86-64: it reads
 * LINES lines of 64 bytes once, writes to each of PAGES new pages once, writes WRITES times
 * to `watched`, and ends with exit status 5.
 *
 * instructions: 2 + 4 LINES, 2 + 4 PAGES, 1 + 3 WRITES, and 3 at the end */
    .globl _start, watched
    .text
_start:
    lea lines(%rip), %rsi
    mov $LINES, %ecx
1:  movb (%rsi), %al
    add $64, %rsi
    dec %ecx
    jnz 1b
    lea pages(%rip), %rsi
    mov $PAGES, %ecx
2:  movb $1, (%rsi)
    add $4096, %rsi
    dec %ecx
    jnz 2b
    mov $WRITES, %ecx
3:  movq $1, watched(%rip)
    dec %ecx
    jnz 3b
    mov $60, %eax
    mov $5, %edi
    syscall

    .bss
    .balign 4096
watched:
    .skip 4096
lines:
    .skip 64 * LINES
    .balign 4096
pages:
    .skip 4096 * PAGES
