import Nostr
import Testing

@testable import Appliance

@Suite struct APIValueTests {
    private func roundTrips<Value: APIValue>(_ value: Value) throws -> Bool {
        try APICoding.decode(Value.self, from: try APICoding.encode(value)) == value
    }

    @Test func valuesRoundTrip() throws {
        let results = [
            try self.roundTrips(Samples.recipe),
            try self.roundTrips(Samples.status(revision: 4)),
            try self.roundTrips(Samples.record("s1", rating: Rating(stars: 4, ratedAt: 9))),
            try self.roundTrips(CommandRequest(id: "c", kind: .start, recipeID: "dal", servings: 2, expiresAt: 5)),
            try self.roundTrips(LoginChallengeRequest(channel: .phone, address: "+919876543210")),
            try self.roundTrips(TokenGrant(accessToken: "a", refreshToken: "r", expiresIn: 60)),
            try self.roundTrips(
                Preferences(
                    version: 2, values: ["spice": PreferenceValue(text: "hot", updatedAt: 1)],
                    people: [PersonAllergens(person: "आशा", allergens: [.milk], updatedAt: 1)])),
            try self.roundTrips(APIProblem(code: "busy", message: "", retryAfter: 3)),
        ]
        #expect(results.allSatisfy { $0 })
    }

    @Test func refusesValuesOutOfBounds() {
        var recipe = Samples.recipe
        recipe.steps = []
        #expect(code { _ = try APICoding.encode(recipe) } == .malformed)
        recipe = Samples.recipe
        recipe.imagePath = "//evil.example/x"
        #expect(code { try recipe.validate() } == .malformed)
        recipe.imagePath = "/v1/../secret"
        #expect(code { try recipe.validate() } == .malformed)
        var status = Samples.status(revision: 1)
        status.step = 3
        #expect(code { try status.validate() } == .malformed)
        #expect(code { try Rating(stars: 6, ratedAt: 0).validate() } == .malformed)
        #expect(code { try CommandRequest(id: "c", kind: .start, expiresAt: 0).validate() } == .malformed)
        #expect(code { try CommandRequest(id: "c", kind: .pause, expiresAt: 0).validate() } == .malformed)
    }

    @Test func refusesHostileJSON() throws {
        let valid = try APICoding.encode(Samples.recipe)
        for count in 0..<valid.count {
            #expect(code { _ = try APICoding.decode(Recipe.self, from: valid.prefix(count)) } == .malformed)
        }
        #expect(code { _ = try APICoding.decode(Recipe.self, from: valid + Array("x".utf8)) } == .malformed)
        let nested = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        #expect(code { _ = try APICoding.decode(Recipe.self, from: nested) } == .malformed)
        let long = [UInt8](repeating: UInt8(ascii: " "), count: APICoding.maximumBytes + 1)
        #expect(code { _ = try APICoding.decode(Recipe.self, from: long) } == .tooLarge)
    }

    @Test func keepsUnknownAllergensAndStates() throws {
        let ingredient = try APICoding.decode(
            Ingredient.self, from: Array(#"{"name":"x","quantity":1,"unit":"","allergens":["lupin"],"new":1}"#.utf8))
        #expect(ingredient.allergens == [Allergen(rawValue: "lupin")])
        let record = try APICoding.decode(
            ApplianceRecord.self,
            from: Array(
                #"{"id":"a","name":"n","model":"m","firmware":"","isOnline":true,"state":"dancing"}"#.utf8))
        #expect(record.state == .unknown)
    }

    @Test func descriptionsHideSecrets() {
        let texts = [
            "\(TokenGrant(accessToken: "secret", refreshToken: "secret", expiresIn: 1))",
            "\(RefreshRequest(refreshToken: "secret"))", "\(LoginCode(challengeID: "c", code: "123456"))",
            "\(WiFiCredentials(network: "home", passphrase: "secret12"))",
            "\(ApplianceClaim(claimToken: "secret", name: "n"))",
        ]
        #expect(texts.allSatisfy { !$0.contains("secret") && !$0.contains("123456") })
    }

    @Test(arguments: [
        ("+919876543210", true), ("+1234567", true), ("919876543210", false), ("+0123456789", false), ("+12", false),
        ("+1234567890123456", false), ("+12345x7", false), ("", false),
    ])
    func recognizesPhoneNumbers(text: String, isValid: Bool) {
        #expect(LoginAddress.isPhoneNumber(text) == isValid)
    }

    @Test(arguments: [
        ("asha@example.org", true), ("a@b", false), ("@example.org", false), ("a@b@c.de", false), ("a@.de", false),
        ("a b@example.org", false),
    ])
    func recognizesEmailAddresses(text: String, isValid: Bool) {
        #expect(LoginAddress.isEmail(text) == isValid)
    }
}

@Suite struct APIRequestTests {
    @Test func encodesQueries() throws {
        let request = try APIRequest.recipes(language: .hindi, query: "दाल & x=1", cursor: "dal")
        #expect(request.target == "/v1/recipes?language=hi&q=%E0%A4%A6%E0%A4%BE%E0%A4%B2%20%26%20x%3D1&cursor=dal")
    }

    @Test func refusesPathsFromOutside() {
        #expect(code { _ = try APIRequest.recipe("../admin", language: .english) } == .malformed)
        #expect(code { _ = try APIRequest.recipe("..", language: .english) } == .malformed)
        #expect(code { _ = try APIRequest.session(of: "a/b") } == .malformed)
        #expect(code { _ = try APIRequest.image(at: "https://evil.example/") } == .malformed)
        #expect(code { _ = try APIRequest.events(after: -1) } == .malformed)
    }

    @Test func commandsCarryTheirIdempotencyKey() throws {
        let command = CommandRequest(id: "c1", kind: .pause, sessionID: "s1", expiresAt: 5)
        let cloud = try APIRequest.command(command, to: "a1", by: .cloud)
        #expect(cloud.target == "/v1/appliances/a1/commands" && cloud.idempotencyKey == "c1")
        let local = try APIRequest.command(command, to: "a1", by: .local)
        #expect(local.target == "/lan/v1/commands" && local.authorization == .localKey)
    }
}
