import BotKit
import NIOCore
import Nostr

/// Checks the NIP-11 document, the clock, and whether both are correct.
extension RelayExaminer {
    private static let askOperator = "ask its operator: clients trust what it says of itself"

    func readInformation(_ address: SocketAddress) async {
        let began = ContinuousClock.now
        let scheme = relay.isSecure ? "https" : "http"
        let answer: HTTPProbe.Answer
        do {
            let http = try HTTPProbe(
                host: relay.host, at: address.ipAddress ?? relay.host, trustRootFiles: probe.trustRootFiles,
                limit: max(.milliseconds(1), budget.limit))
            let outcome = await ask(http, "\(scheme)://\(relay.authority)\(relay.path)")
            try? await http.shutdown()
            answer = try outcome.get()
        } catch { return missInformation("\(error)") }
        judgeClock(answer.clockOffset, began)
        guard answer.status == 200, let read = try? RelayInformation(json: answer.body) else {
            return missInformation("its answer has status \(answer.status) and is no such document")
        }
        information = read
        report.information = String(decoding: answer.body, as: UTF8.self)
        report.supportedNIPs = Array(Set(read.supportedNIPs)).sorted()
        let software = [read.software, read.version].compactMap { $0.map { PlainText.of($0) } }
        pass(
            .information, since: began, software.isEmpty ? "tells of itself" : "runs \(software.joined(separator: " "))"
        )
    }

    private func ask(_ http: HTTPProbe, _ address: String) async -> Result<HTTPProbe.Answer, NetworkError> {
        do throws(NetworkError) {
            return .success(try await http.ask(address, accept: "application/nostr+json"))
        } catch { return .failure(error) }
    }

    private func missInformation(_ why: String) {
        skip(.information, "says nothing of itself (NIP-11): \(why)")
        blame(
            .informationMissing, .information, .note, "says nothing of itself (NIP-11): \(why)",
            "ask its operator what it allows")
    }

    private func judgeClock(_ offset: Double?, _ began: ContinuousClock.Instant) {
        guard let offset else { return skip(.clock, "it does not tell the time") }
        report.clockOffset = offset
        // Clamped, so that even an absurd offset can be printed.
        let seconds = Int(max(-1e9, min(1e9, offset.rounded())))
        guard abs(offset) > ClockFindings.tolerated else {
            return pass(.clock, since: began, "within \(max(1, abs(seconds))) s of ours")
        }
        fail(
            .clockOff, .clock, .warning, since: began,
            "has a clock \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") ours",
            "compare this machine's clock (timedatectl); if it is right tell the relay's operator")
    }

    /// Reports claims of the document that the relay's behaviour has disproved and that no other phase reports.
    func judgeInformation() {
        guard let limits = information?.limitation else { return }
        let writes = !accepted.isEmpty
        var claims: [String] = []
        if limits.authenticationRequired == true, !report.wantsLogin,
            writes || report.phase(.subscribe)?.outcome == .passed
        {
            claims.append("clients must log in, and asks nobody to")
        }
        if limits.paymentRequired == true, writes { claims.append("it wants to be paid, and lets strangers write") }
        if let bits = limits.minProofOfWork, bits > 0, writes {
            claims.append("it wants \(bits) bits of work, and takes events without")
        }
        if let size = limits.maxMessageLength, size < EventSizes.common, report.phase(.size)?.outcome == .passed {
            claims.append("messages have \(size) bytes at most, and takes \(EventSizes.common)")
        }
        if let size = limits.maxMessageLength, size >= EventSizes.common, has(.sizeLimit) {
            claims.append("messages may have \(size) bytes, and refuses \(EventSizes.common)")
        }
        if let most = limits.maxLimit, most >= 3, has(.fewEvents) {
            claims.append("an answer has up to \(most) events, and gives fewer")
        }
        guard !claims.isEmpty else { return }
        fail(
            .informationFalse, .information, .warning, since: .now,
            "is not as it says (NIP-11): it says that \(claims.joined(separator: "; that "))", Self.askOperator)
    }
}

/// Message sizes that groups need.
enum EventSizes {
    /// The largest size that clients stay within.
    static let common = RelayLimits.commonMessageBytes
    /// The minimum for small groups.
    static let least = RelayLimits.leastMessageBytes
}
