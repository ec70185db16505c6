import Telemetry

/// The fields of a query, or of a form's body (`application/x-www-form-urlencoded`).
struct FormFields: Sendable, Hashable {
    private let values: [String: String]

    static let none = FormFields(values: [:])

    private init(values: [String: String]) {
        self.values = values
    }

    /// Parses fields; nil if their encoding is invalid. The first value of a repeated name counts.
    init?(_ text: String) {
        guard let request = HTTPRequest(target: "/?" + text) else { return nil }
        values = Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// Returns a value; nil if it is absent or empty.
    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
}
