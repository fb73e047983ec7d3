/* mpi_stack.c -- a stack for each rank, and the switch between it and the simulator.
 *
 * A switch is a call: only what a function must preserve is saved, on the stack that is left, and
 * the stack pointers change places. */
#include "mpi_stack_priv.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Saves the stack pointer at *save and goes on at `to`. */
void mpi_stack_swap(void **save, void *to);
void mpi_stack_first(void);

#if defined(__x86_64__)
/* Six registers, the control words of both floating-point units, the return address. */
enum { SAVED_WORDS = 7 };

__asm__(".text\n"
        ".globl mpi_stack_swap\n"
        ".type mpi_stack_swap, @function\n"
        "mpi_stack_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size mpi_stack_swap, .-mpi_stack_swap\n"
        ".globl mpi_stack_first\n"
        ".type mpi_stack_first, @function\n"
        "mpi_stack_first:\n"
        "    movq %r12, %rdi\n"
        "    callq *%r13\n"
        "    ud2\n"
        ".size mpi_stack_first, .-mpi_stack_first\n");

/* As if mpi_stack_first() had just called mpi_stack_swap(): its words, from the lowest. */
static void *stack_prepare(char *top, void (*entry)(void *), void *arg)
{
    uintptr_t *sp =
        (uintptr_t *)(void *)top - 2 - SAVED_WORDS - 1; /* 16-byte aligned at the entry */
    uint32_t control[2] = {0x1f80, 0x037f};             /* as at the start of a process */

    memcpy(&sp[0], control, sizeof control);
    sp[1] = sp[2] = 0; /* r15, r14 */
    sp[3] = (uintptr_t)entry;
    sp[4] = (uintptr_t)arg;
    sp[5] = sp[6] = 0; /* rbx, rbp: the end of the frames */
    sp[7] = (uintptr_t)mpi_stack_first;
    return sp;
}

#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl mpi_stack_swap\n"
        ".type mpi_stack_swap, %function\n"
        "mpi_stack_swap:\n"
        "    stp x19, x20, [sp, #-160]!\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldp x19, x20, [sp], #160\n"
        "    ret\n"
        ".size mpi_stack_swap, .-mpi_stack_swap\n"
        ".globl mpi_stack_first\n"
        ".type mpi_stack_first, %function\n"
        "mpi_stack_first:\n"
        "    mov x0, x20\n"
        "    blr x19\n"
        "    brk #0\n"
        ".size mpi_stack_first, .-mpi_stack_first\n");

static void *stack_prepare(char *top, void (*entry)(void *), void *arg)
{
    uintptr_t *sp = (uintptr_t *)(void *)(top - 160);

    memset(sp, 0, 160);
    sp[0] = (uintptr_t)entry; /* x19 */
    sp[1] = (uintptr_t)arg;   /* x20 */
    sp[11] = (uintptr_t)mpi_stack_first;
    return sp;
}

#else
#include <stdlib.h>

void mpi_stack_swap(void **save, void *to)
{
    (void)save, (void)to;
    abort();
}

static void *stack_prepare(char *top, void (*entry)(void *), void *arg)
{
    (void)top, (void)entry, (void)arg;
    return NULL;
}
#endif

/* ---- both ways; address sanitizers want to know about it ---- */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STACK_WATCHED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define STACK_WATCHED 1
#endif

#ifdef STACK_WATCHED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define STACK_LEAVE(fake, bottom, size) __sanitizer_start_switch_fiber(fake, bottom, size)
#define STACK_ENTER(fake, bottom, size) __sanitizer_finish_switch_fiber(fake, bottom, size)
#else
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define STACK_LEAVE(fake, bottom, size) ((void)(fake), (void)(bottom), (void)(size))
#define STACK_ENTER(fake, bottom, size) ((void)(fake), (void)(bottom), (void)(size))
#endif

static void stack_entry(void *arg)
{
    struct mpi_stack *s = arg;

    STACK_ENTER(NULL, &s->host, &s->host_size);
    s->entry(s->arg);
}

void mpi_stack_enter(struct mpi_stack *s)
{
    void *to = s->here, *fake = NULL;

    assert(s->base && to);
    STACK_LEAVE(&fake, s->base, s->size);
    mpi_stack_swap(&s->here, to);
    STACK_ENTER(fake, NULL, NULL);
}

void mpi_stack_leave(struct mpi_stack *s)
{
    void *to = s->here, *fake = NULL;

    STACK_LEAVE(&fake, s->host, s->host_size);
    mpi_stack_swap(&s->here, to);
    STACK_ENTER(fake, &s->host, &s->host_size);
}

bool mpi_stack_open(struct mpi_stack *s, size_t size, void (*entry)(void *), void *arg)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    assert(size && entry);
    size = (size + page - 1) / page * page + page;
    char *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED)
        return false;
    if (mprotect(base, page, PROT_NONE)) {
        munmap(base, size);
        return false;
    }
    ASAN_UNPOISON_MEMORY_REGION(base, size); /* of an earlier rank's frames, which never returned */
    *s = (struct mpi_stack){.base = base, .size = size, .entry = entry, .arg = arg};
    s->here = stack_prepare(base + size, stack_entry, s);
    return true;
}

void mpi_stack_close(struct mpi_stack *s)
{
    if (s->base)
        munmap(s->base, s->size);
    *s = (struct mpi_stack){0};
}
