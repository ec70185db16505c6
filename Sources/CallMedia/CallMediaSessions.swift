package import PikaCore
import Synchronization

/// The running media of an account's calls: one at a time, briefly overlapping with the end of the previous one.
///
/// Programs pass the transport of `CallTransport` to it, labs and tests one inside the process.
package final class CallMediaSessions: CallMediaEngine {
    private let transport: any CallMediaTransport
    private let clock: any CoreClock
    private let sessions = Mutex<[String: CallMediaSession]>([:])

    /// Creates the engine, without any session.
    package init(transport: any CallMediaTransport, clock: any CoreClock) {
        self.transport = transport
        self.clock = clock
    }

    package func open(
        _ plan: CallMediaPlan, report: @escaping @Sendable (CallMediaReport) -> Void
    ) -> @Sendable () async -> Void {
        let session = CallMediaSession(plan, clock: self.clock)
        let before = self.sessions.withLock { $0.updateValue(session, forKey: session.callID) }
        before?.stop()
        return {
            await session.run(self.transport, to: plan.session.moqURL, report)
            self.remove(session)
        }
    }

    package func set(callID: String, isMuted: Bool, isCameraOn: Bool) {
        self.session(callID)?.set(isMuted: isMuted, isCameraOn: isCameraOn)
    }

    package func stop(callID: String) {
        self.sessions.withLock { $0.removeValue(forKey: callID) }?.stop()
    }

    fileprivate func session(_ callID: String) -> CallMediaSession? { self.sessions.withLock { $0[callID] } }

    /// Removes a session that has ended.
    private func remove(_ session: CallMediaSession) {
        self.sessions.withLock { sessions in
            if sessions[session.callID] === session { sessions[session.callID] = nil }
        }
    }
}

extension AppCore {
    /// Returns the media of a call that is `AppState.ActiveCall.Phase.active`; nil before, after, for another call,
    /// and if the account's calls have no media.
    package nonisolated func callMedia(callID: String) -> CallMediaSession? {
        (self.callMediaEngine as? CallMediaSessions)?.session(callID)
    }
}
