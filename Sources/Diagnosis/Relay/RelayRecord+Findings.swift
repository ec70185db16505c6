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
            echo, "echo", "a passing event", &findings,
            harm: "the canary and typing notices depend on it; messages do not")
        judge(groupEvent, "group messages", "a group message (kind 445)", &findings)
        judge(giftWrap, "invitations", "an invitation (kind 1059)", &findings)
        if let storedFailure {
            findings.error(
                "reading", "did not answer what it holds of the account: \(storedFailure)", "ask the relay's operator")
        }
    }

    private func judgeLogin(_ canLogIn: Bool, _ findings: inout FindingList) {
        guard wasChallenged else { return }
        if canLogIn {
            findings.ok("login", "asks who is there (NIP-42), and was answered")
        } else {
            findings.warning(
                "login", "asks who is there (NIP-42), and the key could not be used here",
                "what follows may be better once the account logs in")
        }
    }

    /// - Parameter harm: The consequence of a failure, if it does not stop all of the account's work.
    private func judge(
        _ attempt: Attempt?, _ check: String, _ what: String, _ findings: inout FindingList, harm: String? = nil
    ) {
        func failed(_ text: String, _ advice: String) {
            if let harm {
                findings.warning(check, "\(text); \(harm)", advice)
            } else {
                findings.error(check, text, advice)
            }
        }
        switch attempt {
        case .returned(let time): findings.ok(check, "\(what) came back after \(time.inWholeMilliseconds) ms")
        case .kept where harm == nil && check == "invitations": findings.ok(check, "took \(what)")
        case .kept: failed("took \(what) and did not give it back", "use another relay, or ask its operator why")
        case .refused(let reason): failed("refused \(what): \(reason)", Self.advice(refusal: reason))
        case .lost(let reason):
            failed("did not answer to \(what): \(reason)", "try again; if it stays so use another relay")
        case nil: break
        }
    }

    static func advice(refusal reason: String) -> String {
        if reason.hasPrefix("auth-required") { return "let the account log in: run this where its key can be read" }
        if reason.hasPrefix("restricted") || reason.hasPrefix("blocked") {
            return "ask the relay's operator to let the account write, group messages from throwaway keys included"
        }
        if reason.hasPrefix("rate-limited") { return "wait a minute and try again" }
        if reason.hasPrefix("pow") { return "use another relay: no proof of work is done here" }
        return "use another relay, or ask its operator why"
    }

    private static func advice(for failure: String) -> String {
        if failure.hasPrefix("TLS") {
            return
                "the certificate does not hold for this name or is not trusted here (apt-get install ca-certificates)"
        }
        if failure.contains("WebSocket") || failure.contains("upgrade") {
            return "check the address, also its path: no relay answers there"
        }
        return "check the address, and that this machine may open connections to it"
    }
}

extension Duration {
    /// Rounded to whole milliseconds, at least 1.
    var inWholeMilliseconds: Int { max(1, Int((self / .milliseconds(1)).rounded())) }
}
