import Foundation

/// Notifications to the service manager.
///
/// `READY=1` is sent once every worker has been ready or is over (quarantined, finished, stopped or removed), and at
/// least one has been ready. A worker that may still become ready delays it, and while such workers answer questions
/// `EXTEND_TIMEOUT_USEC` asks for more time. `WATCHDOG=1` is sent once every running worker that has ever answered has
/// answered again since the last one; a hanging worker is replaced before the watchdog timeout.
struct ServiceManager {
    /// Interval of start timeout extensions without a watchdog.
    private static let startingBeat = Duration.seconds(5)
    /// A beat is this fraction of the watchdog timeout; a worker's patience is half of the timeout.
    private static let beatsPerWatchdog = 4

    private let socket: NotifySocket?
    private var heard: Set<Int> = []
    private(set) var isReady = false
    private var isStopping = false
    private var status = ""

    init(socket: NotifySocket?) {
        self.socket = socket
    }

    /// Interval of ``beat(_:)``; nil without a socket.
    var beat: Duration? {
        socket.map { $0.watchdog.map { $0 / Self.beatsPerWatchdog } ?? Self.startingBeat }
    }

    /// Lowers the limits, so that a hanging worker is detected before the watchdog timeout.
    func adapted(_ configuration: SupervisorConfiguration) -> SupervisorConfiguration {
        guard let watchdog = socket?.watchdog else { return configuration }
        var configuration = configuration
        configuration.patience = min(configuration.patience ?? watchdog / 2, watchdog / 2)
        configuration.longestPause = min(configuration.longestPause, watchdog / Self.beatsPerWatchdog)
        return configuration
    }

    mutating func heard(from worker: Int) { heard.insert(worker) }

    /// Sends readiness and status if they have changed.
    mutating func show(_ machine: SupervisorStateMachine) {
        guard let socket else { return }
        let text = Self.statusText(machine)
        if !isReady, !isStopping, Self.isReady(machine) { isReady = socket.send("READY=1\nSTATUS=\(text)") }
        if text != status, socket.send("STATUS=\(text)") { status = text }
    }

    /// Sends the periodic notifications, provided that the workers have answered.
    mutating func beat(_ machine: SupervisorStateMachine) {
        guard let socket, let beat else { return }
        show(machine)
        let answering = machine.workers.indices.filter {
            machine.workers[$0].isRunning && machine.workers[$0].liveness.hasAnswered
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

    /// Returns a status text such as `2 of 3 accounts ready; quarantined: greeter`.
    static func statusText(_ machine: SupervisorStateMachine) -> String {
        let workers = machine.order.map { machine.workers[$0] }
        let ready = workers.count { $0.state == .running(isReady: true) }
        let quarantined = workers.filter { $0.state == .quarantined }.map(\.specification.name)
        let end = quarantined.isEmpty ? "" : "; quarantined: \(quarantined.joined(separator: ", "))"
        return "\(ready) of \(workers.count) accounts ready\(end)"
    }

    private static func microseconds(_ duration: Duration) -> Int64 { Int64(duration / .microseconds(1)) }
}
