extension AppState {
    /// The state of the remote signer of an account.
    public enum SignerStatus: Sendable, Hashable {
        /// It has not been asked for anything yet.
        case unknown
        /// It has answered the last request.
        case ready
        /// It does not answer; dependent work waits, and the request is retried.
        case away(reason: String)
        /// It refused the last request, which is not retried.
        case refused(reason: String)
        /// A user must approve a request at this address.
        case needsApproval(url: String)
    }
}
