//! Segments and the task state: SYSCALL fixes the order of the selectors.

use super::context::CpuArea;
use core::arch::asm;
use x86_64::PrivilegeLevel::{Ring0, Ring3};
use x86_64::VirtAddr;
use x86_64::instructions::segmentation::{CS, DS, ES, FS, GS, SS, Segment};
use x86_64::instructions::tables::load_tss;
use x86_64::registers::model_specific::{GsBase, KernelGsBase, Star};
use x86_64::structures::gdt::{Descriptor, GlobalDescriptorTable, SegmentSelector};
use x86_64::structures::tss::TaskStateSegment;

const KERNEL_CODE: SegmentSelector = SegmentSelector::new(1, Ring0);
const KERNEL_DATA: SegmentSelector = SegmentSelector::new(2, Ring0);
// Entry 3 would be 32-bit user code, which SYSRET counts from; there is none, so it stays empty.
const USER_DATA: SegmentSelector = SegmentSelector::new(4, Ring3);
const USER_CODE: SegmentSelector = SegmentSelector::new(5, Ring3);

/// `cs` and `ss` of user code.
pub(super) const USER_SELECTORS: (u64, u64) = (USER_CODE.0 as u64, USER_DATA.0 as u64);

/// The stacks of the three exceptions that cannot trust the one they interrupt, as indices of the IST.
#[derive(Clone, Copy)]
pub(super) enum ExceptionStack {
    DoubleFault = 0,
    NonMaskable = 1,
    MachineCheck = 2,
}

/// How many they are.
pub(super) const EXCEPTION_STACKS: usize = 3;

/// A CPU's descriptor table and task state.
pub(super) struct Segments {
    table: GlobalDescriptorTable,
    task: TaskStateSegment,
}

impl Segments {
    pub(super) const fn new() -> Self {
        Segments { table: GlobalDescriptorTable::empty(), task: TaskStateSegment::new() }
    }

    /// Points the stacks of those three exceptions at `tops`.
    pub(super) fn set_exception_stacks(&mut self, tops: [u64; EXCEPTION_STACKS]) {
        for (index, top) in tops.into_iter().enumerate() {
            self.task.interrupt_stack_table[index] = VirtAddr::new(top);
        }
    }

    /// Points the stack of traps from user mode at `top`.
    pub(super) fn set_kernel_stack(&mut self, top: u64) {
        self.task.privilege_stack_table[0] = VirtAddr::new(top);
    }
}

/// Fills and loads this CPU's segments, and points its GS base at `area`.
pub(super) fn load(area: &'static CpuArea) {
    // SAFETY: this CPU alone uses its area, and nothing refers to the segments before they are loaded here.
    let segments: &'static mut Segments = unsafe { &mut *area.segments.get() };
    segments.set_exception_stacks(area.exception_stack_tops());
    let empty = Descriptor::UserSegment(0);
    segments.table.append(Descriptor::kernel_code_segment());
    segments.table.append(Descriptor::kernel_data_segment());
    segments.table.append(empty);
    segments.table.append(Descriptor::user_data_segment());
    segments.table.append(Descriptor::user_code_segment());
    let task: *const TaskStateSegment = &segments.task;
    // SAFETY: the task state lives as long as the area: for ever.
    let task_selector = segments.table.append(unsafe { Descriptor::tss_segment_unchecked(task) });
    // SAFETY: the table is complete, never moves and never goes away; the selectors are the ones appended above.
    unsafe {
        segments.table.load_unsafe();
        CS::set_reg(KERNEL_CODE);
        SS::set_reg(KERNEL_DATA);
        DS::set_reg(SegmentSelector::NULL);
        ES::set_reg(SegmentSelector::NULL);
        FS::set_reg(SegmentSelector::NULL);
        GS::set_reg(SegmentSelector::NULL);
        load_tss(task_selector);
        asm!("lldt {:x}", in(reg) 0u16, options(nostack, preserves_flags)); // none
    }
    GsBase::write(VirtAddr::from_ptr(area));
    KernelGsBase::write(VirtAddr::zero());
    Star::write(USER_CODE, USER_DATA, KERNEL_CODE, KERNEL_DATA)
        .expect("the selectors lie as SYSCALL wants them");
}
