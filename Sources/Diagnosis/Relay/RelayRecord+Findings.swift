extension RelayRecord {
    /// Reports the results in the order of the steps.
    ///
    /// - Parameter canLogIn: Whether there was a key to log in with.
    func judge(canLogIn: Bool, into findings: inout FindingList) {
        if let failure {
            findings.error("websocket", "no connection: \(failure)", Self.advice(for: failure))
            return
        }
        findings.ok("websocket", "speaks Nostr")
        judgeLogin(canLogIn, &findings)
        judge(
            echo, "echo", "an ephemeral event", &findings,
            impact: "the canary and typing notices depend on it; messages do not")
        judge(groupEvent, "group messages", "a group message (kind 445)", &findings)
        judge(giftWrap, "invitations", "an invitation (kind 1059)", &findings)
        if let storedFailure {
            findings.error(
                "reading", "the query for the account's events failed: \(storedFailure)", "ask the relay's operator")
        }
    }

    private func judgeLogin(_ canLogIn: Bool, _ findings: inout FindingList) {
        guard wasChallenged else { return }
        if canLogIn {
            findings.ok("login", "authentication requested (NIP-42) and answered")
        } else {
            findings.warning(
                "login", "authentication requested (NIP-42), but the account's key is not available here",
                "the following checks may pass once the account authenticates")
        }
    }

    /// - Parameter impact: The consequence of a failure, if it does not stop all of the account's work.
    private func judge(
        _ attempt: Attempt?, _ check: String, _ what: String, _ findings: inout FindingList, impact: String? = nil
    ) {
        func failed(_ text: String, _ advice: String) {
            if let impact {
                findings.warning(check, "\(text); \(impact)", advice)
            } else {
                findings.error(check, text, advice)
            }
        }
        switch attempt {
        case .returned(let time): findings.ok(check, "\(what) was returned after \(time.inWholeMilliseconds) ms")
        case .kept where impact == nil && check == "invitations": findings.ok(check, "accepted \(what)")
        case .kept: failed("accepted \(what) but did not return it", "use another relay, or ask its operator why")
        case .refused(let reason): failed("refused \(what): \(reason)", Self.advice(refusal: reason))
        case .lost(let reason):
            failed("no response to \(what): \(reason)", "try again; if the error persists, use another relay")
        case nil: break
        }
    }

    static func advice(refusal reason: String) -> String {
        if reason.hasPrefix("auth-required") {
            return "run this where the account's key can be read, so that it can authenticate"
        }
        if reason.hasPrefix("restricted") || reason.hasPrefix("blocked") {
            return "ask the relay's operator to let the account write, and throwaway keys, which sign group messages"
        }
        if reason.hasPrefix("rate-limited") { return "wait a minute and try again" }
        if reason.hasPrefix("pow") { return "use another relay: proof of work is not supported" }
        return "use another relay, or ask its operator why"
    }

    private static func advice(for failure: String) -> String {
        if failure.hasPrefix("TLS") {
            return
                "the certificate is not valid for this host, or its authority not trusted (apt-get install ca-certificates)"
        }
        if failure.contains("WebSocket") || failure.contains("upgrade") {
            return "check the address and its path: no relay responds there"
        }
        return "check the address and this machine's firewall"
    }
}

extension Duration {
    /// Rounded to whole milliseconds, at least 1.
    var inWholeMilliseconds: Int { max(1, Int((self / .milliseconds(1)).rounded())) }
}
