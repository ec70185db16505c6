/// The media of an account's calls, as the core needs it: the core decides when a call's media begins and ends, and the
/// host exchanges it with the other side (docs/protocol/marmot.md §9.4 to §9.6).
package protocol CallMediaEngine: Sendable {
    /// Opens the media of a call, and returns the body of its task.
    ///
    /// The body returns when the media was stopped, its connection has failed, or the task is cancelled. Reports of
    /// other calls than the current one are ignored.
    func open(
        _ plan: CallMediaPlan, report: @escaping @Sendable (CallMediaReport) -> Void
    ) -> @Sendable () async -> Void

    /// Applies the mute and camera settings to an open call; does nothing for another one.
    func set(callID: String, isMuted: Bool, isCameraOn: Bool)

    /// Ends the media of a call; does nothing if it is not open.
    func stop(callID: String)
}

/// For accounts whose calls have no media: a call rings, and ends when it is accepted.
package struct NoCallMedia: CallMediaEngine {
    package init() {}

    package func open(
        _ plan: CallMediaPlan, report: @escaping @Sendable (CallMediaReport) -> Void
    ) -> @Sendable () async -> Void {
        return {
            report(.failed(callID: plan.callID, reason: "no media transport supports \(plan.session.moqURL)"))
        }
    }

    package func set(callID: String, isMuted: Bool, isCameraOn: Bool) {}

    package func stop(callID: String) {}
}
