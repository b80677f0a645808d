# Entry from user mode and from interrupts, and the ways back. Offsets and constants come from Rust.
#
# Every path leaves a Frame (frame.rs) on the kernel stack of the LWP, with the direction flag clear, interrupts off
# and, where the CPU has SMAP, user memory out of reach.

.text

# A crossing of the ledger, as CpuLedger's own functions make it (kcore::acct), here because the stamp belongs to the
# first instructions of an entry and the last of a return: what lies outside is billed to the wrong side. One account
# is closed, another opened, between the two numbers of the sequence. Clobbers rax, rdx and the flags.
.macro cross from, to, state
    lock inc qword ptr gs:[{sequence}]
    lfence
    rdtsc
    shl rdx, 32
    or rax, rdx
    add gs:[\from], rax
    sub gs:[\to], rax
    mov dword ptr gs:[{state}], \state
    inc qword ptr gs:[{sequence}]
.endm

.macro park_rax_rdx
    mov gs:[{parked_rax}], rax
    mov gs:[{parked_rdx}], rdx
.endm

.macro unpark_rax_rdx
    mov rax, gs:[{parked_rax}]
    mov rdx, gs:[{parked_rdx}]
.endm

# System calls. In: number in rax, return address in rcx, flags in r11; SFMASK cleared IF, DF, TF, AC, NT.
# The function for a number lies in a table; it takes the frame and returns what goes into rax. It preserves rbx, rbp
# and r12 to r15 by the rules of its language, so they are not saved. rdx goes to the frame from where it is parked.
.macro enter_system_call
    swapgs
    park_rax_rdx
    cross {user}, {system}, {state_system}
    inc qword ptr gs:[{system_calls}]
    mov rax, gs:[{parked_rax}]
    mov gs:[{user_rsp}], rsp
    mov rsp, gs:[{kernel_rsp}]
    push {user_ss}
    push gs:[{user_rsp}]
    push r11
    push {user_cs}
    push rcx
    push rax
    sub rsp, 32                     # vector, rax, rcx, r11
    push rdi
    push rsi
    push gs:[{parked_rdx}]
    push r8
    push r9
    push r10
    sub rsp, 48                     # rbx, rbp, r12 to r15
    mov rdi, rsp
.endm

# Looks whether this CPU was asked to do something first. Interrupts stay off from here on, so nothing is missed.
.macro leave_system_call
    cmp byte ptr gs:[{attention}], 0
    je 9f
    mov rdi, rax
    call {attend_rust}              # returns its argument
9:
    mov rdi, [rsp + {rdi}]
    mov rsi, [rsp + {rsi}]
    mov r8, [rsp + {r8}]
    mov r9, [rsp + {r9}]
    mov r10, [rsp + {r10}]
    mov rcx, rax
    cross {system}, {user}, {state_user}
    mov rax, rcx
    mov rdx, [rsp + {rdx}]
    mov rcx, [rsp + {rip}]          # canonical: user code never lies in the last page below 2^47
    mov r11, [rsp + {rflags}]
    mov rsp, [rsp + {rsp}]
    swapgs
    sysretq
.endm

# Fills in the frame at rdi what enter_system_call left out, for calls that make a copy of their caller.
.macro save_preserved
    mov [rdi + {rbx}], rbx
    mov [rdi + {rbp}], rbp
    mov [rdi + {r12}], r12
    mov [rdi + {r13}], r13
    mov [rdi + {r14}], r14
    mov [rdi + {r15}], r15
.endm

.global syscall_entry
syscall_entry:
    enter_system_call
    cmp rax, {linux_calls}
    jae 2f
    call [{linux_table} + rax * 8]
1:  leave_system_call
2:  sub rax, {own_calls}
    cmp rax, {our_calls}
    jae 3f
    call [{our_table} + rax * 8]
    jmp 1b
3:  call {unknown_call}
    jmp 1b

# The same for the option strace.
.global syscall_entry_traced
syscall_entry_traced:
    enter_system_call
    save_preserved
    call {traced_call}
    leave_system_call

# What the table holds for calls that make a copy of their caller.
.global clone_with_registers
clone_with_registers:
    save_preserved
    jmp {clone_call}

.global fork_with_registers
fork_with_registers:
    save_preserved
    jmp {fork_call}

.global vfork_with_registers
vfork_with_registers:
    save_preserved
    jmp {vfork_call}

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
    push rax
    push rcx
    push r11
    push rdi
    push rsi
    push rdx
    push r8
    push r9
    push r10
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
.endm

# An exception keeps the user's AC flag, which would open user memory: room for `clac`, which boot puts there where the
# CPU has SMAP.
.macro forbid_user_memory
8:  .byte 0x0f, 0x1f, 0x00
    .pushsection .clac_sites, "a"
    .quad 8b
    .popsection
.endm

.macro pop_registers
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    pop r10
    pop r9
    pop r8
    pop rdx
    pop rsi
    pop rdi
    pop r11
    pop rcx
    pop rax
.endm

trap_common:
    test byte ptr [rsp + 24], 3     # cs, above vector, error code and rip
    jz 3f
    swapgs
    park_rax_rdx
    cmp qword ptr [rsp], {first_interrupt}
    jae 1f
    cross {user}, {system}, {state_system}
    jmp 2f
1:  cross {user}, {irq}, {state_irq}
2:  unpark_rax_rdx
3:  push_registers
    cld
    forbid_user_memory
    mov rdi, rsp
    call {trap_rust}

# Restores everything from the Frame at rsp. Also the first return of a new LWP and of a new program.
.global trap_return
trap_return:
    pop_registers
    test byte ptr [rsp + 24], 3
    jz 3f
    park_rax_rdx
    cmp dword ptr gs:[{state}], {state_irq}
    je 1f
    cross {system}, {user}, {state_user}
    jmp 2f
1:  cross {irq}, {user}, {state_user}
2:  unpark_rax_rdx
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
4:  forbid_user_memory
    mov rdi, rsp
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

# fn go_on_with_stack(stack_top: u64, function: fn() -> !)
.global go_on_with_stack
go_on_with_stack:
    mov rsp, rdi
    xor ebp, ebp                    # ends the backtraces
    call rsi
    ud2

# Leaves the kernel with the Frame at rdi, forgetting what is on the stack: fn return_to_frame(frame: *const Frame).
.global return_to_frame
return_to_frame:
    mov rsp, rdi
    jmp trap_return
