declare module "views" {
  const views: import("./view.ts").View[];
  export default views;
}
declare module "*.css";
