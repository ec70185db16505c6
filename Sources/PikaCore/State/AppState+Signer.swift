extension AppState {
    /// How it stands with the signer of an account whose key is elsewhere.
    public enum SignerStatus: Sendable, Hashable {
        /// It was not asked for anything yet.
        case unknown
        /// It has done what it was asked for last.
        case ready
        /// It does not answer; what it is needed for waits, and it is asked again.
        case away(reason: String)
        /// It did not do what it was asked for last, which is not asked for again.
        case refused(reason: String)
        /// Somebody has to approve a request at this address.
        case needsApproval(url: String)
    }
}
