import Synchronization

/// The media sessions that run, by call: there is one at a time, and for a moment the end of the one before.
final class CallMediaHub: Sendable {
    private let sessions = Mutex<[String: CallMedia]>([:])

    func add(_ session: CallMedia) {
        let before = self.sessions.withLock { $0.updateValue(session, forKey: session.callID) }
        before?.stop()
    }

    func session(_ callID: String) -> CallMedia? { self.sessions.withLock { $0[callID] } }

    func stop(_ callID: String) {
        self.sessions.withLock { $0.removeValue(forKey: callID) }?.stop()
    }

    /// Forgets a session that has ended by itself.
    func remove(_ session: CallMedia) {
        self.sessions.withLock { sessions in
            if sessions[session.callID] === session { sessions[session.callID] = nil }
        }
    }
}
