import Nostr

/// A relay's answer to the request for its information document (NIP-11).
struct InformationRecord: Sendable {
    struct Answer: Sendable {
        var status: Int
        /// nil if the answer has no valid document.
        var information: RelayInformation?
        /// The document, unmodified.
        var text: String
        /// The relay's clock minus the local clock in seconds, if the relay sends its time.
        var clockOffset: Double?
    }

    let answer: Result<Answer, NetworkError>
    let duration: Duration

    /// Requests the document of a relay.
    static func read(_ relay: RelayURL, _ http: HTTPProbe) async -> InformationRecord {
        let began = ContinuousClock.now
        let scheme = relay.isSecure ? "https" : "http"
        do throws(NetworkError) {
            let response = try await http.request(
                "\(scheme)://\(relay.authority)\(relay.path)", accept: "application/nostr+json")
            let information = try? RelayInformation(json: response.body)
            let answer = Answer(
                status: response.status,
                information: response.status == 200 ? information : nil,
                text: String(decoding: response.body, as: UTF8.self), clockOffset: response.clockOffset)
            return InformationRecord(answer: .success(answer), duration: .now - began)
        } catch { return InformationRecord(answer: .failure(error), duration: .now - began) }
    }

    var information: RelayInformation? { (try? answer.get())?.information }

    var clockOffset: Double? { (try? answer.get())?.clockOffset }

    /// The reason why the document is missing; nil if it is present.
    var problem: String? {
        switch answer {
        case .failure(let error): "\(error)"
        case .success(let answer):
            answer.information == nil ? "invalid response (status \(answer.status))" : nil
        }
    }

    /// The relay's software, as named by the document; if it names none, that the relay serves a document.
    var summary: String {
        let software = [information?.software, information?.version].compactMap { $0.map { PlainText.of($0) } }
        return software.isEmpty ? "serves a NIP-11 document" : "runs \(software.joined(separator: " "))"
    }
}
