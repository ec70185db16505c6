package import Nostr

/// The requests that a worker answers to its supervisor.
///
/// On the wire `{"ask":NAME,"id":N,…}` is answered with `{"answer":N,"result":…}` or `{"answer":N,"error":TEXT}`. A
/// question with `"signOfLife":true` is answered even when there are too many others.
package struct WorkerRequests: Sendable {
    /// Receives the whole question. Errors that it throws are sent as text, so they must not contain a secret.
    package typealias Answer = @Sendable (JSONValue) async throws -> JSONValue

    private var answers: [String: Answer] = [:]

    package init() {}

    /// Registers the answer to questions with this name, replacing an earlier one.
    package mutating func on(_ ask: String, _ answer: @escaping Answer) { answers[ask] = answer }

    subscript(ask: String) -> Answer? { answers[ask] }
}

/// The reason why a question is refused, as a sentence for the requester.
package struct WorkerRefusal: Error, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
