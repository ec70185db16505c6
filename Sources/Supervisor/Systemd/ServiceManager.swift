import Foundation

/// What the service manager is told, and when.
///
/// `READY=1` once every worker was ready, or is out of the game with another one ready: a worker that may still become
/// ready holds it back, and while such workers show signs of life the manager is asked for more time. `WATCHDOG=1`
/// once every running worker that ever answered has answered anew since the last one; one that hangs is replaced
/// before the manager loses its patience with all.
struct ServiceManager {
    /// Without a watchdog, how often more time is asked for during the start.
    private static let startingBeat = Duration.seconds(5)
    /// Of the watchdog's time, a beat takes this part, and a worker's patience half.
    private static let beatsPerWatchdog = 4

    private let socket: NotifySocket?
    private var heard: Set<Int> = []
    private(set) var isReady = false
    private var isStopping = false
    private var status = ""

    init(socket: NotifySocket?) {
        self.socket = socket
    }

    /// How often ``beat(_:)`` is due; nil: never.
    var beat: Duration? {
        socket.map { $0.watchdog.map { $0 / Self.beatsPerWatchdog } ?? Self.startingBeat }
    }

    /// The limits, so that a worker that hangs is noticed in time for the watchdog.
    func adapted(_ configuration: SupervisorConfiguration) -> SupervisorConfiguration {
        guard let watchdog = socket?.watchdog else { return configuration }
        var configuration = configuration
        configuration.patience = min(configuration.patience ?? watchdog / 2, watchdog / 2)
        configuration.longestPause = min(configuration.longestPause, watchdog / Self.beatsPerWatchdog)
        return configuration
    }

    mutating func heard(from worker: Int) { heard.insert(worker) }

    /// Says what has changed.
    mutating func show(_ machine: SupervisorStateMachine) {
        guard let socket else { return }
        let words = Self.words(machine)
        if !isReady, !isStopping, Self.isReady(machine) { isReady = socket.send("READY=1\nSTATUS=\(words)") }
        if words != status, socket.send("STATUS=\(words)") { status = words }
    }

    /// Work was done: the supervisor came here, and the workers answered.
    mutating func beat(_ machine: SupervisorStateMachine) {
        guard let socket, let beat else { return }
        show(machine)
        let answering = machine.workers.indices.filter {
            machine.workers[$0].isRunning && machine.workers[$0].pulse.hasAnswered
        }
        guard heard.isSuperset(of: answering) else { return }
        var lines = socket.watchdog == nil ? [] : ["WATCHDOG=1"]
        if !isReady, !isStopping {
            lines.append("EXTEND_TIMEOUT_USEC=\(Self.microseconds(beat * 2 * Self.beatsPerWatchdog))")
        }
        if !lines.isEmpty, socket.send(lines.joined(separator: "\n")) { heard = [] }
    }

    func reloading() {
        guard isReady else { return }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        socket?.send("RELOADING=1\nMONOTONIC_USEC=\(Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)")
    }

    func reloaded() {
        if isReady { socket?.send("READY=1") }
    }

    mutating func stopping() {
        guard !isStopping else { return }
        isStopping = true
        socket?.send("STOPPING=1")
    }

    private static func isReady(_ machine: SupervisorStateMachine) -> Bool {
        let workers = machine.order.map { machine.workers[$0] }
        return (workers.isEmpty || workers.contains(where: \.record.wasEverReady))
            && workers.allSatisfy { $0.record.wasEverReady || $0.isOver }
    }

    /// Such as `2 of 3 accounts ready; quarantined: greeter`.
    static func words(_ machine: SupervisorStateMachine) -> String {
        let workers = machine.order.map { machine.workers[$0] }
        let ready = workers.count { $0.state == .running(isReady: true) }
        let quarantined = workers.filter { $0.state == .quarantined }.map(\.specification.name)
        let end = quarantined.isEmpty ? "" : "; quarantined: \(quarantined.joined(separator: ", "))"
        return "\(ready) of \(workers.count) accounts ready\(end)"
    }

    private static func microseconds(_ duration: Duration) -> Int64 { Int64(duration / .microseconds(1)) }
}
