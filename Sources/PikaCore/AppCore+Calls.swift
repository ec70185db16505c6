extension AppCore {
    /// Returns the media of a call that is ``AppState/ActiveCall/Phase/active``; nil before, after, or for another
    /// call.
    package nonisolated func callMedia(callID: String) -> CallMedia? { self.callHub.session(callID) }

    /// Returns the session parameters of the current call, or of the one that ended last; nil for another call.
    ///
    /// Includes the call's token, which snapshots do not contain: keep it out of logs.
    package func callSession(callID: String) -> CallSession? {
        self.lastCall?.id == callID ? self.lastCall?.session : nil
    }
}
