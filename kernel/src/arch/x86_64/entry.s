# Entry from user mode and from interrupts, and the ways back. Offsets and constants come from Rust.
#
# Every path leaves a Frame (frame.rs) on the kernel stack of the LWP, with the direction flag clear, interrupts off
# and, where the CPU has SMAP, user memory out of reach.

.text

# System calls. In: number in rax, return address in rcx, flags in r11; SFMASK cleared IF, DF, TF, AC, NT.
# The six registers that Rust preserves are pushed for fork and clone to copy, and skipped on the way back.
.macro system_call handler
    swapgs
    mov gs:[{user_rsp}], rsp
    mov rsp, gs:[{kernel_rsp}]
    push {user_ss}
    push gs:[{user_rsp}]
    push r11
    push {user_cs}
    push rcx
    push rax
    push {syscall_vector}
    push rdi
    push rsi
    push rdx
    push r8
    push r9
    push r10
    sub rsp, 24                     # rax, rcx, r11: see Frame::complete
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    mov rdi, rsp
    call \handler                   # result in rax
    mov rdi, [rsp + {rdi}]
    mov rsi, [rsp + {rsi}]
    mov rdx, [rsp + {rdx}]
    mov r8, [rsp + {r8}]
    mov r9, [rsp + {r9}]
    mov r10, [rsp + {r10}]
    mov rcx, [rsp + {rip}]          # canonical: user code never lies in the last page below 2^47
    mov r11, [rsp + {rflags}]
    mov rsp, [rsp + {rsp}]
    swapgs
    sysretq
.endm

.global syscall_entry
syscall_entry:
    system_call {syscall_rust}

# The same for the option strace.
.global syscall_entry_traced
syscall_entry_traced:
    system_call {syscall_traced_rust}

# Exceptions and interrupts: 256 stubs of 16 bytes that push what the CPU did not, then one common path.
.balign 16
.global trap_stubs
trap_stubs:
.set vector, 0
.rept 256
    .balign 16
    .if !(vector == 8 || (vector >= 10 && vector <= 14) || vector == 17 || vector == 21 || vector == 29 || vector == 30)
    push 0
    .endif
    push vector
    .if vector == 2 || vector == 8 || vector == 18
    jmp trap_paranoid
    .else
    jmp trap_common
    .endif
    .set vector, vector + 1
.endr

.macro push_registers
    push rdi
    push rsi
    push rdx
    push r8
    push r9
    push r10
    push rax
    push rcx
    push r11
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
.endm

.macro pop_registers
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    pop r11
    pop rcx
    pop rax
    pop r10
    pop r9
    pop r8
    pop rdx
    pop rsi
    pop rdi
.endm

trap_common:
    test byte ptr [rsp + 24], 3     # cs, above vector, error code and rip
    jz 1f
    swapgs
1:  push_registers
    cld
    cmp byte ptr [{smap}], 0        # an exception keeps the user's AC, which would open user memory
    je 2f
    clac
2:  mov rdi, rsp
    call {trap_rust}

# Restores everything from the Frame at rsp. Also the first return of a new LWP and of a new program.
.global trap_return
trap_return:
    pop_registers
    test byte ptr [rsp + 24], 3
    jz 3f
    swapgs
3:  add rsp, 16
    iretq

# NMI, double fault and machine check may arrive between an entry's first instruction and its swapgs, so the saved cs
# does not tell whose GS base is loaded: the base itself does, kernel addresses being negative. Own stacks (IST).
trap_paranoid:
    push_registers
    cld
    mov ecx, 0xc0000101             # GS base
    rdmsr
    xor ebx, ebx
    test edx, edx
    js 4f
    swapgs
    inc ebx
4:  cmp byte ptr [{smap}], 0
    je 5f
    clac
5:  mov rdi, rsp
    call {trap_rust}
    test ebx, ebx
    jz 6f
    swapgs
6:  pop_registers
    add rsp, 16
    iretq

# The context switch: fn switch_stacks(save_rsp: *mut u64, next_rsp: u64). Pushes what Rust expects preserved, leaves
# the stack pointer in *save_rsp and goes on where the next context left off.
.global switch_stacks
switch_stacks:
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    mov [rdi], rsp
    mov rsp, rsi
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret

# Where a new LWP's context begins: rsp at its Frame. Ends the dispatch that chose it, then returns to user mode.
.global lwp_first_return
lwp_first_return:
    mov rdi, rsp
    call {first_return_rust}
    jmp trap_return

# Leaves the kernel with the Frame at rdi, forgetting what is on the stack: fn return_to_frame(frame: *const Frame).
.global return_to_frame
return_to_frame:
    mov rsp, rdi
    jmp trap_return
