import PikaCore

/// The streams that a daemon's tasks follow.
struct DaemonStreams: Sendable {
    let updates: AsyncStream<AppUpdate>
    let stateChanges: AsyncStream<Void>
    let stateChanged: AsyncStream<Void>.Continuation
    /// Work that runs beside the commands.
    let backgroundWork: AsyncStream<@Sendable () async -> Void>
    let background: AsyncStream<@Sendable () async -> Void>.Continuation

    init(updates: AsyncStream<AppUpdate>) {
        self.updates = updates
        (self.stateChanges, self.stateChanged) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (self.backgroundWork, self.background) = AsyncStream.makeStream()
    }

    func finish() {
        self.stateChanged.finish()
        self.background.finish()
    }
}

/// The turning points of a daemon's run; nil or false if one is never reached.
struct DaemonMilestones: Sendable {
    let ready = Promise<Bool>()
    let firstState = Promise<Bool>()
    let end = Promise<Bool>()
}
