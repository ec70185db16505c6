import Testing

@testable import ResponderBot

struct TemplateTests {
    private func fill(_ text: String, _ values: [Placeholder: String]) throws -> String {
        try Template(text).filled { values[$0] ?? "" }
    }

    @Test(arguments: [
        ("Hello {name}!", "Hello Ann!"), ("{{name}} is {name}", "{name} is Ann"), ("{1|nobody}", "nobody"),
        ("{2|nobody}", "two"), ("}}{{", "}{"), ("", ""), ("{args}", "{name}"), ("{name|a|b}{3|a|b}", "Anna|b"),
    ])
    func placesAreFilledIn(_ text: String, _ filled: String) throws {
        #expect(try fill(text, [.name: "Ann", .piece(2): "two", .args: "{name}"]) == filled)
    }

    @Test(arguments: [
        ("{", Template.Mistake.open), ("a {name", .open), ("{na{me}", .open), ("a }", .closed), ("{name}}", .closed),
        ("{}", .unknown("")), ("{Name}", .unknown("Name")), ("{01}", .unknown("01")), ("{21}", .unknown("21")),
        ("{+1}", .unknown("+1")), ("{ name}", .unknown(" name")),
    ])
    func mistakesAreFound(_ text: String, _ mistake: Template.Mistake) {
        #expect(throws: mistake) { try Template(text) }
    }

    @Test func placeholdersAreKnownByTheirNames() {
        for name in Placeholder.names + ["1", "20"] { #expect(Placeholder(name)?.name == name) }
    }

    @Test func whatGoesIntoAnAddressIsEncoded() throws {
        let url = try Template("https://api.example/{1}?q={args}")
        let filled = url.filled({ $0 == .args ? "a b&c=d#é" : "../x" }, encode: \.percentEncoded)
        #expect(filled == "https://api.example/..%2Fx?q=a%20b%26c%3Dd%23%C3%A9")
    }
}
