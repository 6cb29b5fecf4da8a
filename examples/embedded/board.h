/* What a program needs of the board: output and exit through the debugger, a serial line, and a timer. */

#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

void board_print(const char *text);  /* prints to the console of the debugger (semihosting) */
void board_exit(int status);         /* ends the program; does not return */
void board_send(const void *bytes, size_t count);
void board_receive(void *bytes, size_t count); /* waits until all bytes have arrived */
uint32_t board_ticks(void);          /* counts down from 2^24 - 1 with the clock of the processor */

/* Fills the unused part of the stack with a pattern; then returns how many bytes were used since. */
void board_paint_stack(void);
size_t board_used_stack(void);

#endif
