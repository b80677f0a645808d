//! Random histories of a few CPUs and LWPs. After every step each figure must be the model's, and the laws hold.

use super::super::*;
use proptest::prelude::*;

const CPUS: usize = 3;
const LWPS: usize = 5;

/// What the model knows of a CPU: nothing but the sums of intervals, added one by one.
#[derive(Clone, Copy, Default)]
struct ModelCpu {
    state: Option<CpuState>,
    interrupted: Option<CpuState>,
    lwp: Option<usize>,
    ticks: CpuTicks,
}

#[derive(Clone, Copy)]
struct ModelLwp {
    tid: u32,
    state: LwpState,
    times: Microstates,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Cross(usize),
    Irq(usize),
    /// The CPU's LWP (if any) goes to the state, the LWP (if it is runnable) gets the CPU.
    Switch(usize, OffCpu, usize),
    Wake(usize),
    Change(usize, OffCpu),
    Begin(usize, OffCpu),
    Retire(usize),
}

struct Machine {
    now: u64,
    next_tid: u32,
    cpus: [CpuLedger; CPUS],
    lwps: [LwpLedger; LWPS],
    machine: MachineLedger,
    process: ProcessLedger,
    model_cpus: [ModelCpu; CPUS],
    model_lwps: [Option<ModelLwp>; LWPS],
    model_retired: Usage,
}

impl Machine {
    fn new(now: u64) -> Machine {
        Machine {
            now,
            next_tid: 1,
            cpus: Default::default(),
            lwps: Default::default(),
            machine: MachineLedger::new(),
            process: ProcessLedger::new(),
            model_cpus: Default::default(),
            model_lwps: Default::default(),
            model_retired: Usage::default(),
        }
    }

    /// Time passes: one interval more for the state that each CPU and each LWP is in.
    fn advance(&mut self, ticks: u64) {
        self.now = self.now.wrapping_add(ticks);
        for cpu in &mut self.model_cpus {
            let Some(state) = cpu.state else { continue };
            cpu.ticks.up += ticks;
            match state {
                CpuState::User => cpu.ticks.user += ticks,
                CpuState::System => cpu.ticks.system += ticks,
                CpuState::Irq => cpu.ticks.irq += ticks,
                CpuState::Idle => cpu.ticks.idle += ticks,
            }
        }
        for lwp in self.model_lwps.iter_mut().flatten() {
            if lwp.state != LwpState::Off(OffCpu::Ended) {
                lwp.times.lifetime += ticks;
            }
            match lwp.state {
                LwpState::OnCpu(cpu) => match self.model_cpus[cpu as usize].state {
                    Some(CpuState::User) => lwp.times.user += ticks,
                    Some(CpuState::System) => lwp.times.system += ticks,
                    Some(CpuState::Irq) => lwp.times.runnable += ticks,
                    _ => unreachable!("an LWP on an idle CPU"),
                },
                LwpState::Off(OffCpu::Runnable) => lwp.times.runnable += ticks,
                LwpState::Off(OffCpu::Sleeping) => lwp.times.sleeping += ticks,
                LwpState::Off(OffCpu::Stopped) => lwp.times.stopped += ticks,
                LwpState::Off(OffCpu::Ended) => {}
            }
        }
    }

    /// Does what a kernel would do, in ledgers and model; steps that no kernel would take are left out.
    fn step(&mut self, step: Step) {
        let now = self.now;
        match step {
            Step::Cross(cpu) => self.cross(cpu),
            Step::Irq(cpu) => self.irq(cpu),
            Step::Switch(cpu, next, to) => self.switch(cpu, next, to),
            Step::Wake(lwp) => {
                if let Some(model) =
                    self.model_lwps[lwp].as_mut().filter(|m| m.state == LwpState::Off(OffCpu::Sleeping))
                {
                    model.state = LwpState::Off(OffCpu::Runnable);
                    assert_eq!(self.lwps[lwp].wake(|| now), now);
                }
            }
            Step::Change(lwp, next) => {
                let off =
                    |m: &&mut ModelLwp| matches!(m.state, LwpState::Off(state) if state != OffCpu::Ended);
                if let Some(model) = self.model_lwps[lwp].as_mut().filter(off) {
                    model.state = LwpState::Off(next);
                    assert_eq!(self.lwps[lwp].change(next, || now), now);
                }
            }
            Step::Begin(lwp, state) => {
                if self.model_lwps[lwp].is_none() && state != OffCpu::Ended {
                    let tid = self.next_tid;
                    self.next_tid += 1;
                    self.lwps[lwp].begin(tid, state, || now);
                    let times = Microstates::default();
                    self.model_lwps[lwp] = Some(ModelLwp { tid, state: LwpState::Off(state), times });
                }
            }
            Step::Retire(lwp) => {
                if self.model_lwps[lwp].is_some_and(|m| m.state == LwpState::Off(OffCpu::Ended)) {
                    let used = self.lwps[lwp].retire();
                    self.machine.add_ended(used);
                    self.process.add_ended(used);
                    self.model_retired =
                        self.model_retired + self.model_lwps[lwp].take().unwrap().times.usage();
                }
            }
        }
    }

    fn cross(&mut self, cpu: usize) {
        let (ledger, now) = (&self.cpus[cpu], self.now);
        let state = &mut self.model_cpus[cpu].state;
        match state {
            None => {
                ledger.start(|| now);
                *state = Some(CpuState::Idle);
            }
            Some(CpuState::User) => {
                ledger.enter_system(|| now);
                *state = Some(CpuState::System);
            }
            Some(CpuState::System) => {
                ledger.enter_user(|| now);
                *state = Some(CpuState::User);
            }
            Some(CpuState::Irq | CpuState::Idle) => {}
        }
    }

    fn irq(&mut self, cpu: usize) {
        let (ledger, now) = (&self.cpus[cpu], self.now);
        let model = &mut self.model_cpus[cpu];
        let Some(state) = model.state else { return };
        match model.interrupted.take() {
            None => {
                assert_eq!(ledger.enter_irq(|| now), state);
                model.interrupted = Some(state);
                model.state = Some(CpuState::Irq);
            }
            Some(interrupted) => {
                ledger.leave_irq(interrupted, || now);
                model.state = Some(interrupted);
            }
        }
    }

    fn switch(&mut self, cpu: usize, next: OffCpu, to: usize) {
        let now = self.now;
        let model = &mut self.model_cpus[cpu];
        // From an interrupt only an LWP is preempted; the idle loop returns to itself first.
        if model.interrupted.is_some() && model.lwp.is_some() {
            model.interrupted = None;
            self.cpus[cpu].irq_to_system(|| now);
            model.state = Some(CpuState::System);
        }
        if !matches!(model.state, Some(CpuState::System | CpuState::Idle)) {
            return;
        }
        let from = model.lwp;
        let runnable = |m: &ModelLwp| m.state == LwpState::Off(OffCpu::Runnable);
        let to = self.model_lwps[to].as_ref().is_some_and(runnable).then_some(to);
        let leaving = from.map(|lwp| (&self.lwps[lwp], next));
        assert_eq!(switch(&self.cpus[cpu], cpu as u32, leaving, to.map(|lwp| &self.lwps[lwp]), || now), now);
        if let Some(lwp) = from {
            self.model_lwps[lwp].as_mut().unwrap().state = LwpState::Off(next);
        }
        if let Some(lwp) = to {
            self.model_lwps[lwp].as_mut().unwrap().state = LwpState::OnCpu(cpu as u32);
        }
        model.lwp = to;
        model.state = Some(if to.is_some() { CpuState::System } else { CpuState::Idle });
    }

    fn check(&self) {
        let clock = || self.now;
        let cpu_of = |id: u32| &self.cpus[id as usize];
        for (cpu, model) in self.cpus.iter().zip(&self.model_cpus) {
            let ticks = read_cpu(cpu, clock);
            assert_eq!(ticks, model.ticks);
            laws::one(&ticks).unwrap();
            if let (Some(CpuState::System), Some(lwp)) = (model.state, model.lwp) {
                let own = read_own(cpu, &self.lwps[lwp], clock);
                assert_eq!(own, self.model_lwps[lwp].unwrap().times.usage());
            }
        }
        let mut living = Vec::new();
        for (ledger, model) in self.lwps.iter().zip(&self.model_lwps) {
            let Some(model) = model else {
                assert_eq!(ledger.tid(), 0);
                continue;
            };
            let (state, times) = read_any(ledger, model.tid, cpu_of, clock).unwrap();
            assert_eq!((state, times), (model.state, model.times));
            laws::two(&times).unwrap();
            let ended = state == LwpState::Off(OffCpu::Ended);
            assert_eq!(read_lwp(ledger, model.tid, cpu_of, clock), (!ended).then_some(times));
            assert_eq!(read_lwp(ledger, model.tid + 1, cpu_of, clock), None);
            living.push(times.usage());
        }
        let lwps = self.machine.lwps(living.iter().copied());
        assert_eq!(self.process.own(living.iter().copied()), lwps);
        assert_eq!(lwps, self.model_retired + living.iter().copied().sum());
        laws::three(lwps, self.cpus.iter().map(|cpu| read_cpu(cpu, clock))).unwrap();
    }
}

fn off_cpu() -> impl Strategy<Value = OffCpu> {
    use OffCpu::*;
    prop_oneof![4 => Just(Runnable), 2 => Just(Sleeping), 1 => Just(Stopped), 1 => Just(Ended)]
}

fn step() -> impl Strategy<Value = Step> {
    let (cpu, lwp) = (0..CPUS, 0..LWPS);
    prop_oneof![
        3 => cpu.clone().prop_map(Step::Cross),
        3 => cpu.clone().prop_map(Step::Irq),
        4 => (cpu, off_cpu(), lwp.clone()).prop_map(|(cpu, next, to)| Step::Switch(cpu, next, to)),
        2 => lwp.clone().prop_map(Step::Wake),
        1 => (lwp.clone(), off_cpu()).prop_map(|(lwp, next)| Step::Change(lwp, next)),
        2 => (lwp.clone(), off_cpu()).prop_map(|(lwp, state)| Step::Begin(lwp, state)),
        1 => lwp.prop_map(Step::Retire),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 400 }))]

    #[test]
    fn every_figure_is_the_sum_of_its_intervals(
        // Balances wrap; let the clock do so too.
        start in prop_oneof![Just(0), Just(u64::MAX - 5000), any::<u64>()],
        steps in prop::collection::vec((0u64..1000, step()), 1..if cfg!(miri) { 30 } else { 300 }),
    ) {
        let mut machine = Machine::new(start);
        for (ticks, step) in steps {
            machine.advance(ticks);
            machine.step(step);
            machine.check();
        }
    }
}

/// The histories above are worth something only if they reach every state; this one is known to.
#[test]
fn a_life_through_all_states() {
    use OffCpu::*;
    let mut machine = Machine::new(7);
    let steps = [
        Step::Cross(0),
        Step::Begin(0, Stopped),
        Step::Change(0, Runnable),
        Step::Switch(0, Runnable, 0),
        Step::Cross(0),
        Step::Irq(0),
        Step::Irq(0),
        Step::Irq(0),
        Step::Switch(0, Sleeping, 1),
        Step::Irq(0),
        Step::Irq(0),
        Step::Wake(0),
        Step::Switch(0, Runnable, 0),
        Step::Cross(0),
        Step::Cross(0),
        Step::Switch(0, Ended, 0),
        Step::Retire(0),
    ];
    for step in steps {
        machine.advance(10);
        machine.step(step);
        machine.check();
        if let Step::Switch(_, Ended, _) = step {
            let times = machine.model_lwps[0].unwrap().times;
            assert!(times.user > 0 && times.system > 0 && times.runnable > 0);
            assert!(times.sleeping > 0 && times.stopped > 0);
        }
    }
    let ticks = machine.model_cpus[0].ticks;
    assert!(ticks.user > 0 && ticks.system > 0 && ticks.irq > 0 && ticks.idle > 0);
    assert!(machine.model_retired.total() > 0);
}
