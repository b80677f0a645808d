# From the PVH entry to Rust.
#
# The loader (QEMU's -kernel, Xen) finds the address below in the ELF note, and enters there in 32-bit protected
# mode, paging off, interrupts off, with the physical address of the hvm_start_info in %ebx. What is done here: a
# page table that maps the first GiB at 0, at DIRECT_MAP and at KERNEL_BASE, long mode, and the call of boot_rust.

.set KERNEL_BASE, 0xffffffff80000000

.section .note.Xen, "a", @note
.align 4
    .long 4                                 # length of the name
    .long 8                                 # length of the address
    .long 18                                # XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    .quad boot_entry_32 - KERNEL_BASE

.section .text.boot, "ax", @progbits
.code32
.global boot_entry_32
boot_entry_32:
    cld
    mov $(boot_stack_end - KERNEL_BASE), %esp
    mov %ebx, %ebp                          # cpuid clobbers it

    # Long mode and no-execute pages are what the code below cannot do without.
    mov $0x80000000, %eax
    cpuid
    cmp $0x80000001, %eax
    jb boot_unsupported
    mov $0x80000001, %eax
    cpuid
    bt $29, %edx                            # long mode
    jnc boot_unsupported
    bt $20, %edx                            # no-execute
    jnc boot_unsupported

    # One page directory of 2 MiB pages for the first GiB, reached from three places.
    mov $(boot_directory - KERNEL_BASE), %edi
    mov $0x83, %eax                         # present, writable, large
    mov $512, %ecx
1:  mov %eax, (%edi)
    add $0x200000, %eax
    add $8, %edi
    dec %ecx
    jnz 1b
    mov $(boot_directory - KERNEL_BASE + 3), %eax
    mov %eax, boot_low_pointers - KERNEL_BASE
    mov %eax, boot_high_pointers - KERNEL_BASE + 510 * 8
    mov $(boot_low_pointers - KERNEL_BASE + 3), %eax
    mov %eax, boot_level_4 - KERNEL_BASE
    mov %eax, boot_level_4 - KERNEL_BASE + 256 * 8
    mov $(boot_high_pointers - KERNEL_BASE + 3), %eax
    mov %eax, boot_level_4 - KERNEL_BASE + 511 * 8

    mov $(boot_level_4 - KERNEL_BASE), %eax
    mov %eax, %cr3
    mov %cr4, %eax
    or $0x20, %eax                          # PAE
    mov %eax, %cr4
    mov $0xc0000080, %ecx                   # EFER
    rdmsr
    or $0x901, %eax                         # SCE, LME, NXE
    wrmsr
    mov %cr0, %eax
    and $0xfffffffb, %eax                   # no x87 emulation
    or $0x80010022, %eax                    # PG, WP, NE, MP
    mov %eax, %cr0
    lgdt boot_gdt_pointer - KERNEL_BASE
    ljmp $8, $(boot_entry_64 - KERNEL_BASE)

# Says what is missing on the log port and the first serial port, and ends with the code for it.
boot_unsupported:
    mov $(boot_unsupported_text - KERNEL_BASE), %esi
2:  lodsb
    test %al, %al
    jz 3f
    out %al, $0xe9
    mov $0x3f8, %dx
    out %al, %dx
    jmp 2b
3:  mov $63, %eax                           # outcome::UNSUPPORTED
    mov $0xf4, %dx
    out %eax, %dx
4:  hlt
    jmp 4b

.code64
boot_entry_64:
    xor %eax, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %fs
    mov %eax, %gs
    mov %eax, %ss
    mov $boot_stack_end, %rsp
    mov %ebp, %edi
    xor %ebp, %ebp                          # ends the backtraces
    movabs $boot_rust, %rax
    call *%rax
    ud2

.section .rodata
boot_unsupported_text:
    .asciz "unsupported: the CPU lacks long mode or no-execute pages; choose another CPU model\n"
.align 8
boot_gdt:
    .quad 0
    .quad 0x00af9b000000ffff                # 64-bit code
boot_gdt_pointer:
    .word . - boot_gdt - 1
    .quad boot_gdt - KERNEL_BASE

.section .bss
.align 4096
boot_level_4: .skip 4096
boot_low_pointers: .skip 4096
boot_high_pointers: .skip 4096
boot_directory: .skip 4096
.global boot_stack_start
.global boot_stack_end
boot_stack_start: .skip 32768
boot_stack_end:

.text

# The other CPUs. Each wakes in real mode at the page that this code was copied to, goes the same way on the boot page
# table, then to the final one and to the stack that the mailbox names.
.section .text.boot, "ax", @progbits
.code16
.global ap_start
.global ap_end
ap_start:
    cli
    cld
    mov %cs, %ax
    mov %ax, %ds
    lgdtl ap_gdt_pointer - ap_start         # relative to the page
    mov %cr4, %eax
    or $0x20, %eax                          # PAE
    mov %eax, %cr4
    mov $(boot_level_4 - KERNEL_BASE), %eax
    mov %eax, %cr3
    mov $0xc0000080, %ecx                   # EFER
    rdmsr
    or $0x901, %eax                         # SCE, LME, NXE
    wrmsr
    mov %cr0, %eax
    and $0x9ffffffb, %eax                   # caches on, no x87 emulation
    or $0x80010023, %eax                    # PG, WP, NE, MP, PE
    mov %eax, %cr0
    ljmpl $8, $(ap_entry_64 - KERNEL_BASE)
.align 4
ap_gdt_pointer:
    .word 15
    .long boot_gdt - KERNEL_BASE
ap_end:

.code64
ap_entry_64:
    xor %eax, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %fs
    mov %eax, %gs
    mov %eax, %ss
    movabs $ap_entry_high, %rax
    jmp *%rax
ap_entry_high:
    movabs $ap_mailbox, %rbx
    mov (%rbx), %rax
    mov %rax, %cr3
    mov 8(%rbx), %rsp
    mov 16(%rbx), %rdi
    xor %ebp, %ebp                          # ends the backtraces
    movabs $ap_rust, %rax
    call *%rax
    ud2

.section .data
.align 8
.global ap_mailbox
ap_mailbox:
    .quad 0                                 # the final page table
    .quad 0                                 # top of the CPU's stack
    .quad 0                                 # the CPU

.text
