/* Runs an exported control law (prefix `code`) on the board: receives measured and desired values over the serial line,
   computes one sample, and sends the commands back. A frame that is damaged, or that the law refuses, keeps the last
   commands; the status says so. closed_loop.py is the other end of the line. */

#include <string.h>

#include "board.h"
#include "code_law.h"

enum { START = 0x31415926, DAMAGED = 100 };

typedef struct {
    uint32_t begin; /* 1 for the first sample */
#if CODE_LAW_MEASURED
    float measured[CODE_LAW_MEASURED];
#endif
#if CODE_LAW_COORDINATES
    float wanted[CODE_LAW_PREVIEWS][4][CODE_LAW_COORDINATES];
#endif
    float applied[CODE_LAW_ACTUATORS];
    uint32_t check;
} request;

typedef struct {
    uint32_t status;
    float answer[CODE_LAW_ANSWERS];
    uint32_t check;
} reply;

static uint32_t checksum(const void *bytes, size_t count)
{
    const uint8_t *byte = bytes;
    uint32_t sum = 1, more = 0; /* Adler-32 */
    for (; count; --count) {
        sum = (sum + *byte++) % 65521u;
        more = (more + sum) % 65521u;
    }
    return more << 16 | sum;
}

/* Waits for the four bytes that begin a frame, also after lost bytes. */
static void find_start(void)
{
    uint32_t last = 0;
    uint8_t byte;
    while (last != START) {
        board_receive(&byte, 1);
        last = last >> 8 | (uint32_t)byte << 24;
    }
}

int main(void)
{
    static code_law_state state;
    static request given;
    static reply answer;
    for (;;) {
        int flag = DAMAGED;
        find_start();
        board_receive(&given, sizeof given);
        if (given.check == checksum(&given, offsetof(request, check))) {
#if CODE_LAW_COORDINATES
            if (given.begin) code_law_start(&state, given.measured, given.wanted, given.applied);
            flag = code_law_step(&state, given.measured, given.wanted, given.applied, answer.answer);
#else
            if (given.begin) code_law_start(&state, given.measured, given.applied);
            flag = code_law_step(&state, given.measured, given.applied, answer.answer);
#endif
        }
        answer.status = (uint32_t)flag;
        answer.check = checksum(&answer, offsetof(reply, check));
        board_send(&answer, sizeof answer);
    }
}
