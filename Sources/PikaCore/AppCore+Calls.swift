extension AppCore {
    /// Returns the session parameters of the current call, or of the one that ended last; nil for another call.
    ///
    /// Includes the call's token, which snapshots do not contain: keep it out of logs.
    package func callSession(callID: String) -> CallSession? {
        self.lastCall?.id == callID ? self.lastCall?.session : nil
    }
}
