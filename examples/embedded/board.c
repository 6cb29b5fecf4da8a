/* Start-up and input/output for the MPS2 boards with a Cortex-M4F, M7 or M33, as QEMU emulates them. For a board of your
   own, replace the addresses of the UART, and leave out semihosting. */

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define CPACR REGISTER(0xE000ED88)
#define SYSTICK_CONTROL REGISTER(0xE000E010)
#define SYSTICK_RELOAD REGISTER(0xE000E014)
#define SYSTICK_VALUE REGISTER(0xE000E018)
#define UART_DATA REGISTER(UART + 0x0)
#define UART_STATE REGISTER(UART + 0x4) /* bit 0: transmitter full, bit 1: byte received */
#define UART_CONTROL REGISTER(UART + 0x8)
#define UART_DIVIDER REGISTER(UART + 0x10)

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026, PATTERN = 0xA5A5A5A5 };

extern uint32_t data_load[], data_begin[], data_end[], bss_begin[], bss_end[], stack_begin[], stack_end[];
extern int main(void);

static void semihost(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void board_print(const char *text)
{
    semihost(SYS_WRITE0, text);
}

void board_exit(int status)
{
    const uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)status};
    semihost(SYS_EXIT_EXTENDED, block);
    for (;;) {}
}

void board_send(const void *bytes, size_t count)
{
    const uint8_t *byte = bytes;
    for (; count; --count) {
        while (UART_STATE & 1u) {}
        UART_DATA = *byte++;
    }
}

void board_receive(void *bytes, size_t count)
{
    uint8_t *byte = bytes;
    for (; count; --count) {
        while (!(UART_STATE & 2u)) {}
        *byte++ = (uint8_t)UART_DATA;
    }
}

uint32_t board_ticks(void)
{
    return SYSTICK_VALUE;
}

static uint32_t *stack_pointer(void)
{
    uint32_t *sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return sp;
}

__attribute__((noinline)) void board_paint_stack(void)
{
    volatile uint32_t *word = stack_begin, *const end = stack_pointer() - 8;
    while (word < end) *word++ = PATTERN;
}

__attribute__((noinline)) size_t board_used_stack(void)
{
    const volatile uint32_t *word = stack_begin;
    uint32_t *const end = stack_pointer();
    while (word < end && *word == PATTERN) ++word;
    return (size_t)((const char *)end - (const char *)word);
}

static void fault(void)
{
    board_print("fault\n");
    board_exit(3);
}

void reset(void)
{
    uint32_t *to, *from = data_load;
    for (to = data_begin; to < data_end;) *to++ = *from++;
    for (to = bss_begin; to < bss_end;) *to++ = 0;
    CPACR |= 0xFu << 20; /* the floating-point unit */
    __asm__ volatile("dsb\n\tisb");
    SYSTICK_RELOAD = 0xFFFFFF;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 5; /* enabled, clock of the processor, no interrupt */
    UART_DIVIDER = 16;
    UART_CONTROL = 3; /* transmit, receive */
    board_exit(main());
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))(uintptr_t)stack_end, reset, fault, fault, fault, fault, fault, fault,
    fault, fault, fault, fault, fault, fault, fault, fault,
};
