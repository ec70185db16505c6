/// Builds a bot's list of handlers; supports `if`, `if else` and `for`.
@resultBuilder
public enum HandlerBuilder {
    public static func buildExpression(_ declaration: some HandlerDeclaration) -> [Handler] { [declaration.handler] }
    public static func buildExpression(_ handlers: [Handler]) -> [Handler] { handlers }
    public static func buildBlock(_ parts: [Handler]...) -> [Handler] { Array(parts.joined()) }
    public static func buildOptional(_ part: [Handler]?) -> [Handler] { part ?? [] }
    public static func buildEither(first part: [Handler]) -> [Handler] { part }
    public static func buildEither(second part: [Handler]) -> [Handler] { part }
    public static func buildArray(_ parts: [[Handler]]) -> [Handler] { Array(parts.joined()) }
}
