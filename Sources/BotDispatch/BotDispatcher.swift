package import BotKit
package import Logging
package import PikaCore
import ServiceLifecycle

/// Passes events and due jobs to the handlers of an account's bots, and their effects back to the core.
///
/// Jobs of one chat are handled in order, those of different chats concurrently, up to a limit. An event is complete
/// when every bot has handled it: then the effects are committed with it. On a graceful shutdown running handlers
/// finish and nothing new starts; after a cancellation events in flight are redelivered.
package struct BotDispatcher: Service {
    package struct Configuration: Sendable {
        package var accountName: String
        /// The number of chats handled concurrently.
        package var parallelChats = 16
        package var services = BotServices()
        /// The policy on who may trigger and operate the bots; its journal records the fate of events.
        package var admission = Admission()
        /// The deadline of a bot's stop handler.
        package var stopTimeout = Duration.seconds(3)
        /// The executor that runs handlers; nil for the default one.
        package var executor: (any TaskExecutor)?
        /// The crash journal of in-flight jobs, read by the next process.
        package var inFlightStorage: any InFlightStorage = NoInFlightStorage()

        package init(accountName: String) {
            self.accountName = accountName
        }
    }

    /// Observations for user interfaces; reported in the order of each chat.
    package enum Observation: Sendable {
        case received(CoreEvent)
        case answered(BotTrigger, bot: String, [HandlerEffect])
    }

    private enum Step: Sendable {
        /// The bots have started, or failed to.
        case began((any Error)?)
        case event(CoreEvent)
        case handled(BotJob)
        /// The job of a lane waits for an external program or service, and continues later.
        case suspended(lane: String)
        case resumed(lane: String)
        /// A timer or schedule may be due.
        case wake
        /// The set of bots has changed.
        case changed
        /// A check that the loop is responsive.
        case ping(AsyncStream<Void>.Continuation)
        case stop
    }

    var admission: Admission { configuration.admission }
    let core: any HandlerCore
    let clock: any CoreClock
    package let configuration: Configuration
    let logger: Logger
    let observe: @Sendable (Observation) -> Void
    let roster: BotRoster
    let memory = BotMemory()
    let written = WrittenValues()
    let hanging: HangingHandlers
    let held = HeldEvents()
    let inFlight: InFlightJobs
    private let steps: AsyncStream<Step>
    private let nextStep: AsyncStream<Step>.Continuation

    package init(
        bots: [InstalledBot], core: any HandlerCore, clock: any CoreClock, configuration: Configuration,
        logger: Logger, observe: @escaping @Sendable (Observation) -> Void = { _ in }
    ) {
        self.core = core
        self.clock = clock
        self.configuration = configuration
        self.logger = logger
        self.observe = observe
        roster = BotRoster(bots)
        (steps, nextStep) = AsyncStream.makeStream()
        hanging = HangingHandlers { [nextStep] in nextStep.yield(.wake) }
        inFlight = InFlightJobs(storage: configuration.inFlightStorage)
        configuration.admission.onPauseChange { [nextStep] in nextStep.yield(.wake) }
    }

    /// Dispatches until a graceful shutdown or cancellation; may be called once. Throws when the store fails.
    package func run() async throws {
        try await withGracefulShutdownHandler {
            try await dispatch()
        } onGracefulShutdown: {
            nextStep.yield(.stop)
        }
    }

    /// Returns true when all earlier steps are processed; false if the dispatcher has ended. It waits for ``run()`` to
    /// be called, or for the cancellation of the task.
    package func isResponsive() async -> Bool {
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        guard case .enqueued = nextStep.yield(.ping(answer)) else { return false }
        for await _ in answers { return true }
        return false
    }

    private func begin() async -> Step {
        await core.started()
        held.begin(newestOfEarlier: await core.newestInboxID)
        do { try await prepare(roster.bots) } catch { return .began(error) }
        await perform(.start, of: roster.bots, timeout: nil)
        return .began(nil)
    }

    private func dispatch() async throws {
        inFlight.recover()
        var state = DispatchState(
            lanes: ChatLanes(width: configuration.parallelChats) { [inFlight] in inFlight.isSuspect($0) })
        await withDiscardingTaskGroup { group in
            group.addTask { nextStep.yield(await begin()) }
            group.addTask {
                for await event in core.events {
                    admission.arrived(event)
                    nextStep.yield(.event(event))
                }
            }
            for await step in steps {
                for job in process(step, &state) {
                    group.addTask {
                        await handle(job)
                        if !Task.isCancelled { nextStep.yield(.handled(job)) }
                    }
                }
                if state.lanes.isDrained || state.failure != nil { break }
                scheduleWake(&state) { time in
                    group.addTask {
                        do { try await clock.sleep(untilMilliseconds: time) } catch { return }
                        nextStep.yield(.wake)
                    }
                }
            }
            if !Task.isCancelled, state.hasBegun {
                await perform(.stop, of: roster.bots, timeout: configuration.stopTimeout)
            }
            group.cancelAll()
        }
        if let failure = state.failure { throw failure }
    }

    /// Processes a step and returns the jobs to start now.
    private func process(_ step: Step, _ state: inout DispatchState) -> [BotJob] {
        let now = clock.nowMilliseconds
        var jobs: [BotJob] = []
        switch step {
        case .began(let failure): jobs = begin(&state, failure, now)
        case .event(let event) where state.hasBegun: return state.lanes.add(.event(event))
        case .event(let event): state.early.append(event)
        case .handled(let job):
            if case .schedule(let id, _) = job { state.schedules.finish(id, nowMilliseconds: now) }
            jobs = state.lanes.finish(job.lane)
        case .suspended(let lane): return state.lanes.suspend(lane)
        case .resumed(let lane): state.lanes.resume(lane)
        case .wake: state.wakeTime = state.wakeTime.flatMap { $0 <= now ? nil : $0 }
        case .changed where !state.hasBegun: break
        case .changed: state.schedules.install(roster.bots, marks: roster.marks, nowMilliseconds: now)
        case .ping(let answer): answer.yield()
        case .stop:
            state.lanes.stop()
            inFlight.close()
        }
        return jobs + dueJobs(&state, now)
    }

    /// Runs the part of a job that waits for an external program or service, which may take long. Meanwhile other lanes
    /// may run beside it, and the crash journal does not list the job.
    func whileSuspended(_ job: BotJob, _ body: () async -> BotResult) async -> BotResult {
        inFlight.end(job, isDone: false)
        nextStep.yield(.suspended(lane: job.lane))
        defer {
            nextStep.yield(.resumed(lane: job.lane))
            inFlight.begin(job)
        }
        return await body()
    }

    private func begin(_ state: inout DispatchState, _ failure: (any Error)?, _ now: Int64) -> [BotJob] {
        state.failure = failure
        guard failure == nil else { return [] }
        state.hasBegun = true
        state.schedules.install(roster.bots, marks: roster.marks, nowMilliseconds: now)
        defer { state.early = [] }
        return state.early.flatMap { state.lanes.add(.event($0)) }
    }

    private func dueJobs(_ state: inout DispatchState, _ now: Int64) -> [BotJob] {
        guard state.hasBegun, !state.lanes.isStopped else { return [] }
        let bots = activeBots
        markSkipped(
            state.schedules.skipDue(
                nowMilliseconds: now, of: Set(roster.bots.map(\.label).filter(admission.isPaused))))
        let schedules = state.schedules.dequeueDue(nowMilliseconds: now, of: bots)
        let timers = memory.dequeueDue(nowMilliseconds: now, of: bots)
        let ready = held.dequeueReady { admission.isPaused($0) || roster.bot($0).map { !isStuck($0) } ?? true }
        let due =
            ready.map { BotJob.event($0) } + schedules.map { .schedule($0.id, $0.run) }
            + timers.map { .timer(bot: $0.bot, $0.run) }
        return due.flatMap { state.lanes.add($0) }
    }

    /// Labels of the bots that are neither paused nor stuck.
    private var activeBots: Set<String> {
        Set(roster.bots.filter { !admission.isPaused($0.label) && !isStuck($0) }.map(\.label))
    }

    /// Schedules a wake for the next due time, unless an earlier one is pending.
    private func scheduleWake(_ state: inout DispatchState, _ wake: (Int64) -> Void) {
        let times = [state.schedules.next, memory.nextTimer(of: activeBots)].compactMap(\.self)
        guard state.hasBegun, !state.lanes.isStopped, let next = times.min() else { return }
        // The system clock may be changed, so a distant time is checked again earlier.
        let time = min(next, clock.nowMilliseconds + DispatchState.longestSleep)
        guard time < state.wakeTime ?? .max else { return }
        state.wakeTime = time
        wake(time)
    }
}

/// The state of the dispatcher's loop.
private struct DispatchState {
    static let longestSleep: Int64 = 3_600_000

    var lanes: ChatLanes
    var hasBegun = false
    /// Events received before the bots had started.
    var early: [CoreEvent] = []
    var failure: (any Error)?
    var schedules = ScheduleQueue()
    /// The time of the pending wake, Unix milliseconds.
    var wakeTime: Int64?
}

// MARK: Control while it runs

extension BotDispatcher {
    /// Replaces the bots, starting with the next job; jobs in flight finish with the old ones. A bot whose label
    /// existed before keeps its values, timers and conversations; a bot with a new label starts with ``OnStart``. Calls
    /// must not overlap. Throws when the store fails; then nothing has changed.
    package func reconfigure(_ bots: [InstalledBot]) async throws {
        let known = Set(roster.bots.map(\.label))
        try await prepare(bots)
        await perform(.start, of: bots.filter { !known.contains($0.label) }, timeout: nil)
        roster.replace(bots)
        nextStep.yield(.changed)
    }

    /// Labels of the bots, in order, and whether each is paused.
    package var bots: [(label: String, isPaused: Bool)] {
        roster.bots.map { ($0.label, admission.isPaused($0.label)) }
    }

    /// The number of handlers of each bot that still run well after their cancellation; bots without any are omitted.
    package var hangingHandlers: [String: Int] {
        hanging.counts(since: clock.nowMilliseconds - Self.endingMilliseconds)
    }

    /// The time that a cancelled handler has to end, for example to kill a program.
    private static let endingMilliseconds: Int64 = 10_000

    /// Pauses a bot; the pause survives restarts. Its events complete without it, its schedules are skipped, and its
    /// timers wait. Returns false if no bot has this name.
    @discardableResult
    package func pause(_ bot: String) -> Bool { set(bot, paused: true) }

    /// Resumes a paused bot. Returns false if no bot has this name.
    @discardableResult
    package func resume(_ bot: String) -> Bool { set(bot, paused: false) }

    private func set(_ bot: String, paused: Bool) -> Bool {
        guard roster.bot(bot) != nil else { return false }
        admission.setPaused(paused, bot)
        let effect = Admission.pauseEffect(paused, bot, id: "\(Admission.scope)/\(bot)/\(paused)")
        core.perform([effect], request: RequestID(rawValue: "\(Admission.scope)/pause"))
        return true
    }

    /// Loads the bots' stored state.
    private func prepare(_ bots: [InstalledBot]) async throws {
        for bot in bots {
            try await memory.load(bot.label, from: core)
            await admission.load([bot.label], from: core)
        }
        let marks = try await roster.loadMarks(of: bots, from: core, nowMilliseconds: clock.nowMilliseconds)
        if !marks.isEmpty { core.perform(marks, request: RequestID(rawValue: "bots/marks")) }
    }
}
