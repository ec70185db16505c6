import Synchronization

/// The running media sessions, by call: one at a time, briefly overlapping with the end of the previous one.
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

    /// Removes a session that has ended.
    func remove(_ session: CallMedia) {
        self.sessions.withLock { sessions in
            if sessions[session.callID] === session { sessions[session.callID] = nil }
        }
    }
}
