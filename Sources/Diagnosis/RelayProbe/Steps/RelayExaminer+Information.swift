import BotKit
import NIOCore
import Nostr

/// Checks the NIP-11 document, the clock, and whether both are correct.
extension RelayExaminer {
    private static let tellOperator = "tell its operator: clients rely on this document"

    func readInformation(_ address: SocketAddress) async {
        let began = ContinuousClock.now
        let scheme = relay.isSecure ? "https" : "http"
        let answer: HTTPProbe.Response
        do {
            let http = try HTTPProbe(
                host: relay.host, at: address.ipAddress ?? relay.host, trustRootFiles: probe.trustRootFiles,
                limit: max(.milliseconds(1), budget.limit))
            let outcome = await request(http, "\(scheme)://\(relay.authority)\(relay.path)")
            try? await http.shutdown()
            answer = try outcome.get()
        } catch { return reportMissingInformation("\(error)") }
        judgeClock(answer.clockOffset, began)
        guard answer.status == 200, let read = try? RelayInformation(json: answer.body) else {
            return reportMissingInformation("invalid response (status \(answer.status))")
        }
        information = read
        report.information = String(decoding: answer.body, as: UTF8.self)
        report.supportedNIPs = Array(Set(read.supportedNIPs)).sorted()
        let software = [read.software, read.version].compactMap { $0.map { PlainText.of($0) } }
        pass(
            .information, since: began,
            software.isEmpty ? "serves a NIP-11 document" : "runs \(software.joined(separator: " "))"
        )
    }

    private func request(_ http: HTTPProbe, _ address: String) async -> Result<HTTPProbe.Response, NetworkError> {
        do throws(NetworkError) {
            return .success(try await http.request(address, accept: "application/nostr+json"))
        } catch { return .failure(error) }
    }

    private func reportMissingInformation(_ why: String) {
        skip(.information, "no NIP-11 document: \(why)")
        addFault(
            .informationMissing, .information, .note, "serves no NIP-11 document: \(why)",
            "ask its operator for its limits")
    }

    private func judgeClock(_ offset: Double?, _ began: ContinuousClock.Instant) {
        guard let offset else { return skip(.clock, "the relay does not send its time") }
        report.clockOffset = offset
        // Clamped, so that even an absurd offset can be printed.
        let seconds = Int(max(-1e9, min(1e9, offset.rounded())))
        guard abs(offset) > ClockFindings.tolerated else {
            return pass(.clock, since: began, "within \(max(1, abs(seconds))) s of the local clock")
        }
        fail(
            .clockOff, .clock, .warning, since: began,
            "has a clock \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") the local one",
            "check this machine's clock (timedatectl); if it is right, tell the relay's operator")
    }

    /// Reports claims of the document that the relay's behaviour has disproved and that no other phase reports.
    func judgeInformation() {
        guard let limits = information?.limitation else { return }
        let writes = !accepted.isEmpty
        var claims: [String] = []
        if limits.authenticationRequired == true, !report.wantsLogin,
            writes || report.phase(.subscribe)?.outcome == .passed
        {
            claims.append("auth_required is set, but it requests no authentication")
        }
        if limits.paymentRequired == true, writes {
            claims.append("payment_required is set, but it accepts events of unknown keys")
        }
        if let bits = limits.minProofOfWork, bits > 0, writes {
            claims.append("min_pow_difficulty is \(bits), but it accepts events without proof of work")
        }
        if let size = limits.maxMessageLength, size < EventSizes.common, report.phase(.size)?.outcome == .passed {
            claims.append("max_message_length is \(size), but it accepts \(EventSizes.common) bytes")
        }
        if let size = limits.maxMessageLength, size >= EventSizes.common, hasFault(.sizeLimit) {
            claims.append("max_message_length is \(size), but it refuses \(EventSizes.common) bytes")
        }
        if let most = limits.maxLimit, most >= 3, hasFault(.fewEvents) {
            claims.append("max_limit is \(most), but it returns fewer events")
        }
        guard !claims.isEmpty else { return }
        fail(
            .informationFalse, .information, .warning, since: .now,
            "contradicts its NIP-11 document: \(claims.joined(separator: "; "))", Self.tellOperator)
    }
}

/// Message sizes that groups need.
enum EventSizes {
    /// The largest size that clients stay within.
    static let common = RelayRequirements.commonMessageBytes
    /// The minimum for small groups.
    static let least = RelayRequirements.leastMessageBytes
}
