extension AppCore {
    /// The media of a call that is ``AppState/ActiveCall/Phase/active``; nil before, after, or for another call.
    public nonisolated func callMedia(callID: String) -> CallMedia? { self.callHub.session(callID) }

    /// What the call under way, or the one that ended last, was arranged with; nil for another call.
    ///
    /// With its token, which snapshots do not have: keep it from logs.
    public func callSession(callID: String) -> CallSession? {
        self.lastCall?.id == callID ? self.lastCall?.session : nil
    }
}
