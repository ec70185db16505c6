import PikaCore
import Synchronization

/// The running session of a call's media: a child task of the core for the duration of the call.
extension CallMediaSession {
    /// The timeout in milliseconds of a connection, and of the announcement of the other side's broadcast.
    static let connectTimeout: Int64 = 15_000
    /// Milliseconds before subscribing to the other side's broadcast again.
    static let subscribePause: Int64 = 1000
    /// Milliseconds between two reports of statistics.
    static let reportInterval: Int64 = 1000

    /// Runs the session; returns when ``stop()`` was called, the connection failed, or the task is cancelled.
    func run(
        _ transport: any CallMediaTransport, to url: String, _ report: @escaping @Sendable (CallMediaReport) -> Void
    ) async {
        await withTaskGroup { group in
            group.addTask {
                do { try await self.runConnection(transport, to: url, report) } catch is CancellationError {} catch {
                    let reason = (error as? AppCoreError)?.message ?? "the call's connection failed: \(error)"
                    if !Task.isCancelled { report(.failed(callID: self.callID, reason: reason)) }
                }
            }
            group.addTask { for await _ in self.endSignal.signals { return } }
            await group.next()
            group.cancelAll()
        }
        self.stop()
        report(.statistics(callID: self.callID, self.statistics))
    }

    private func runConnection(
        _ transport: any CallMediaTransport, to url: String, _ report: @escaping @Sendable (CallMediaReport) -> Void
    ) async throws {
        let connection = try await self.withTimeout(Self.connectTimeout) { try await transport.connect(to: url) }
        do {
            try await withThrowingTaskGroup { group in
                group.addTask { try await connection.run() }
                group.addTask {
                    let writers = try await self.publish(on: connection)
                    report(.connected(callID: self.callID))
                    try await self.exchange(connection, writers, report)
                }
                // The first failure ends both.
                defer { group.cancelAll() }
                while try await group.next() != nil {}
            }
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    private func publish(on connection: any CallMediaConnection) async throws -> [String: any CallTrackWriter] {
        var writers: [String: any CallTrackWriter] = [:]
        for track in self.tracks {
            let address = CallTrackAddress(path: self.publishPath, track: track.name)
            writers[track.name] = try await self.withTimeout(Self.connectTimeout) {
                try await connection.publish(address)
            }
        }
        return writers
    }

    private func exchange(
        _ connection: any CallMediaConnection, _ writers: [String: any CallTrackWriter],
        _ report: @escaping @Sendable (CallMediaReport) -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            if let audio = self.tracks.first(where: \.isAudio), let writer = writers[audio.name] {
                group.addTask { try await self.sendAudioFrames(audio.name, writer) }
                group.addTask { try await self.playAudio() }
            }
            group.addTask { try await self.sendPieces(connection, writers) }
            for track in self.tracks { group.addTask { try await self.listen(to: track, connection) } }
            group.addTask { try await self.reportStatistics(report) }
            // The first failure ends all tasks.
            defer { group.cancelAll() }
            while try await group.next() != nil {}
        }
    }

    // MARK: Sending

    private func sendAudioFrames(_ track: String, _ writer: any CallTrackWriter) async throws {
        var due: Int64 = 0
        for await _ in self.frameSignal.signals {
            while let frame = self.state.withLock({ $0.outgoing.first }) {
                let now = self.clock.nowMilliseconds
                if due > now { try await self.clock.sleep(untilMilliseconds: due) }
                due = max(due, now) + self.shape.frameMilliseconds
                let group = try self.state.withLock { state in
                    if !state.outgoing.isEmpty { state.outgoing.removeFirst() }
                    return state.isMuted ? nil : try state.seal(frame, track: track, isVideo: false)
                }
                if let group { try await self.write(group, to: writer) }
            }
        }
    }

    private func sendPieces(
        _ connection: any CallMediaConnection, _ writers: [String: any CallTrackWriter]
    ) async throws {
        var writers = writers
        for await piece in self.pieces {
            let writer: any CallTrackWriter
            if let known = writers[piece.track] {
                writer = known
            } else {
                writer = try await connection.publish(CallTrackAddress(path: self.publishPath, track: piece.track))
                writers[piece.track] = writer
            }
            let group = try self.state.withLock { state in
                piece.isVideo && !state.isCameraOn
                    ? nil : try state.seal(piece.bytes, track: piece.track, isVideo: piece.isVideo)
            }
            if let group { try await self.write(group, to: writer) }
        }
    }

    private func write(_ group: CallMediaGroup, to writer: any CallTrackWriter) async throws {
        try await writer.write(group)
        self.state.withLock { $0.statistics.sent += 1 }
    }

    // MARK: Receiving

    /// Reads one track, subscribing again whenever the other side publishes it.
    private func listen(to track: CallSession.Track, _ connection: any CallMediaConnection) async throws {
        let address = CallTrackAddress(path: self.subscribePath, track: track.name)
        while true {
            do {
                let groups = try await self.withTimeout(Self.connectTimeout) { try await connection.subscribe(address) }
                self.notePeer()
                for try await group in groups { self.receive(group, of: track) }
            } catch {
                // Not announced yet, or ended: it may be announced later.
            }
            try Task.checkCancellation()
            try await self.clock.sleep(untilMilliseconds: self.clock.nowMilliseconds + Self.subscribePause)
        }
    }

    private func receive(_ group: CallMediaGroup, of track: CallSession.Track) {
        let isAudio = track.isAudio && !track.isVideo
        let frame = self.state.withLock { state in
            let frame = state.open(group, track: track.name, isVideo: track.isVideo)
            if isAudio, let frame { state.buffer(frame) }
            return frame
        }
        guard let frame else { return }
        if isAudio {
            self.playoutSignal.send()
        } else if track.isVideo {
            self.emit(.video(frame.payload, isKeyframe: frame.isKeyframe))
        } else {
            self.emit(.data(track: track.name, frame.payload))
        }
    }

    /// Emits received audio at playout speed, as long as there is any.
    private func playAudio() async throws {
        var due: Int64 = 0
        for await _ in self.playoutSignal.signals {
            while self.state.withLock({ $0.hasBufferedAudio }) {
                let now = self.clock.nowMilliseconds
                if due > now { try await self.clock.sleep(untilMilliseconds: due) }
                due = max(due, now) + self.shape.frameMilliseconds
                if let chunk = self.state.withLock({ $0.play(silence: self.shape.frameBytes) }) {
                    self.emit(.audio(chunk))
                }
            }
        }
    }

    // MARK: Timers

    private func reportStatistics(_ report: @Sendable (CallMediaReport) -> Void) async throws {
        var last = CallStatistics()
        while true {
            try await self.clock.sleep(untilMilliseconds: self.clock.nowMilliseconds + Self.reportInterval)
            let statistics = self.statistics
            if statistics != last { report(.statistics(callID: self.callID, statistics)) }
            last = statistics
        }
    }

    /// Returns the body's result; throws `AppCoreError.Code.callMediaFailed` after this many milliseconds.
    private func withTimeout<Value: Sendable>(
        _ milliseconds: Int64, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await self.clock.sleep(untilMilliseconds: self.clock.nowMilliseconds + milliseconds)
                throw AppCoreError(.callMediaFailed, "the media relay did not answer in time")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
