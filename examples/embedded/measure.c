/* Calls functions at given points, on a board or on a computer, and prints their results bit by bit; on a board also
   instructions and stack. `cases.h` defines the points and the functions; device.py writes it. */

#include <stdio.h>
#include <string.h>

#include "cases.h"

#ifdef BOARD
#include "board.h"
#else
#define board_print(text) fputs(text, stdout)
#endif

static volatile int sink;
static float found[MOST];

static void print_hex(uint32_t value)
{
    char text[10] = " 00000000";
    int i;
    for (i = 8; i > 0; --i, value >>= 4) text[i] = "0123456789abcdef"[value & 15u];
    board_print(text);
}

#ifdef BOARD
enum { REPEATS = 8 };

static int nothing(int k, float *y)
{
    (void)y;
    return k < 0;
}

static uint32_t ticks_of(int (*call)(int, float *), int k)
{
    const uint32_t begin = board_ticks();
    int n;
    for (n = 0; n < REPEATS; ++n) sink = call(k, found);
    return (begin - board_ticks()) & 0xFFFFFFu;
}
#endif

int main(void)
{
    int f, k, i;
    for (f = 0; f < (int)(sizeof functions / sizeof functions[0]); ++f) {
#ifdef BOARD
        uint32_t most = 0, least = 0xFFFFFFFFu;
        size_t deepest = 0;
        for (k = 0; k < POINTS; ++k) {
            uint32_t ticks;
            size_t used;
            board_paint_stack();
            sink = functions[f].call(k, found);
            used = board_used_stack();
            deepest = used > deepest ? used : deepest;
            ticks = ticks_of(functions[f].call, k) - ticks_of(nothing, k);
            most = ticks > most ? ticks : most;
            least = ticks < least ? ticks : least;
        }
        board_print(functions[f].name);
        print_hex(least);
        print_hex(most);
        print_hex((uint32_t)deepest);
        board_print("\n");
#endif
        for (k = 0; k < POINTS && k < SHOWN; ++k) {
            for (i = 0; i < MOST; ++i) found[i] = 0.0f;
            board_print(":");
            board_print(functions[f].name);
            print_hex((uint32_t)functions[f].call(k, found));
            for (i = 0; i < functions[f].count; ++i) {
                uint32_t bits;
                memcpy(&bits, found + i, sizeof bits);
                print_hex(bits);
            }
            board_print("\n");
        }
    }
    return 0;
}
